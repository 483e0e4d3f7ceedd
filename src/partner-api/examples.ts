import type { ServiceSettings } from '../domain/service-settings.ts'

type Protocols = Pick<ServiceSettings, 'protocols'>

/** USDC of the embedded chain. */
export const EXAMPLE_TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
/** The Aave pool of the embedded chain. */
export const EXAMPLE_MARKET = '0xd8058efe0198ae9dD7D563e1b4938Dcbc86A1F81'
/** Wallet of an end user, in the form that the sandbox derives. */
export const EXAMPLE_WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** The first pool of the shipped fixture, with addresses of the embedded chain. */
export const examplePool = ({ protocols: [protocol] }: Protocols) => ({
  protocol,
  chain_id: '31337',
  token_address: EXAMPLE_TOKEN,
  market_address: EXAMPLE_MARKET,
})

/** The flat shape of a new portfolio in that pool. */
export function examplePortfolio(settings: Protocols) {
  const { protocol, chain_id, token_address, market_address } = examplePool(settings)
  return {
    portfolio_id: 'jar_01JGX0Z5N8Q4R7T2V9W3Y6B1CD',
    name: 'Rainy day',
    description: null,
    protocol,
    chain_id,
    token_address,
    token_symbol: 'USDC',
    token_decimals: 6,
    market_address,
    deposited: '0',
    yield_earned: '0',
    yield_earned_realized: '0',
    total_balance: '0',
    compounding_enabled: true,
    created_at: '2026-01-02T03:04:05.678Z',
    updated_at: '2026-01-02T03:04:05.678Z',
  }
}
