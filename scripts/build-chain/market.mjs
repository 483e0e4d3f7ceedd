// What the embedded chain holds: tokens, an Aave V3 market with lenders and a borrower, a vault per token.
import { keccak256, maxUint256, parseUnits, slice, stringToHex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { planAaveMarket, planBorrow, planStock, planSupply } from './aave-market.mjs'
import { Plan } from './plan.mjs'

/** Deploys: Anvil's first development account, whose key everybody knows. It ends without a say in anything. */
const admin = mnemonicToAccount('test test test test test test test test test test test junk')

/** An account that nobody has a key to. */
const keyless = (name) => ({ address: slice(keccak256(stringToHex(`yield-sandbox ${name}`)), 12) })

/** Owns tokens, markets, pauses and rates; contracts/MarketOwner.sol is put there in the end. */
const owner = keyless('market owner')
const lender = keyless('lender')
const borrower = keyless('borrower')

export const MARKET_OWNER = owner.address

// At 82 % and 80 % utilisation supplying earns about 4.0 % (USDC) and 2.4 % (WETH). The sums are large so that a test's
// deposit of a million hardly moves them.
const BORROWABLE = [
  {
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: 6,
    priceUsd: 1n,
    ltv: 75,
    liquidationThreshold: 80,
    rates: { optimal: 90, slope1: 6, slope2: 60 },
    supplied: 1_000_000_000,
    borrowed: 820_000_000,
    vaultRate: '0.05',
    vaultDeposit: 1_000_000,
  },
  {
    symbol: 'WETH',
    name: 'Wrapped Ether',
    decimals: 18,
    priceUsd: 2_500n,
    ltv: 80,
    liquidationThreshold: 82,
    rates: { optimal: 90, slope1: 3.8, slope2: 80 },
    supplied: 400_000,
    borrowed: 320_000,
    vaultRate: '0.03',
    vaultDeposit: 400,
  },
]

/** What the borrower posts: neither lent out nor offered to tenants. */
const COLLATERAL = {
  symbol: 'WBTC',
  name: 'Wrapped BTC',
  decimals: 8,
  priceUsd: 60_000n,
  ltv: 70,
  liquidationThreshold: 75,
  supplied: 100_000,
}

/**
 * @param {Record<string, { abi: any[], bytecode: `0x${string}` }>} contracts compiled
 * @returns {{ plan: Plan, addresses: object }} the transactions, and the addresses of `EmbeddedMarket`
 */
export function planMarket(contracts) {
  const plan = new Plan()
  const withToken = (reserve) => {
    const args = [reserve.name, reserve.symbol, reserve.decimals, owner.address]
    return { ...reserve, token: plan.deploy(admin, reserve.symbol, contracts.TestToken, args) }
  }
  const borrowable = BORROWABLE.map(withToken)
  const collateral = withToken(COLLATERAL)
  const accounts = { admin, owner }
  const { pool, oracle, provider, rates } = planAaveMarket(
    plan,
    accounts,
    [...borrowable, collateral],
    contracts.SettableRates,
  )

  // A new rate counts from the pool's next interaction with the reserve: whoever sets one supplies a minor unit after it.
  for (const reserve of borrowable) planStock(plan, owner, pool, reserve)
  planSupply(plan, { owner, account: borrower }, pool, collateral, collateral.supplied)
  for (const reserve of borrowable) planSupply(plan, { owner, account: lender }, pool, reserve, reserve.supplied)
  const vaults = borrowable.map((reserve) => ({ ...reserve, vault: planVault(plan, contracts.YieldVault, reserve) }))
  // Not before: the addresses of the vaults follow from what the admin sent until then, and clients may know them.
  for (const owned of [provider, rates, ...vaults.map(({ vault }) => vault)]) {
    plan.call(admin, owned, 'transferOwnership', [owner.address])
  }
  // After every supply: transactions of different senders are mined in the order in which they are sent.
  for (const reserve of borrowable) planBorrow(plan, borrower, pool, reserve, reserve.borrowed)

  return {
    plan,
    addresses: {
      price_oracle: oracle.address,
      tokens: Object.fromEntries(
        borrowable.map(({ symbol, decimals, token }) => [symbol, { address: token.address, decimals }]),
      ),
      aave_pool: pool.address,
      vaults: Object.fromEntries(vaults.map(({ symbol, vault }) => [symbol, vault.address])),
    },
  }
}

/** A vault with a first deposit, so that its share price and its size are established. */
function planVault(plan, contract, { symbol, decimals, token, vaultRate, vaultDeposit }) {
  const args = [token.address, `Sandbox ${symbol} Vault`, `sv${symbol}`, parseUnits(vaultRate, 18)]
  const vault = plan.deploy(admin, `${symbol} vault`, contract, args)
  const units = parseUnits(String(vaultDeposit), decimals)
  plan.call(owner, token, 'setMinter', [vault.address, true])
  plan.call(owner, token, 'mint', [lender.address, units])
  plan.call(lender, token, 'approve', [vault.address, maxUint256])
  plan.call(lender, vault, 'deposit', [units, lender.address])
  return vault
}
