import { MARKET_OWNER, MULTICALL3 } from '../../domain/chain-setup.ts'
import type { KnownAddresses, NamedToken } from '../../domain/ports/chain-words.ts'
import { oneLine } from '../../support/foreign-text.ts'
import { amountInWords } from '../../support/quantities.ts'

/** Most characters of a name, which somebody outside has chosen. */
const LONGEST = 40
/** From here on an amount stands for "as much as there is". */
const UNLIMITED = 2n ** 255n

/** Names of addresses, and amounts of the tokens among them. */
export class Names {
  readonly #tokens = new Map<string, NamedToken>()
  readonly #markets = new Map<string, { name: string; tokens: string[] }>()
  readonly #wallets: KnownAddresses['wallets']

  constructor({ tokens, markets, wallets }: KnownAddresses) {
    this.#wallets = wallets
    for (const token of tokens) this.#tokens.set(token.address.toLowerCase(), token)
    for (const { address, name, token } of markets) {
      const market = this.#markets.get(address.toLowerCase()) ?? { name, tokens: [] }
      market.tokens.push(token.toLowerCase())
      this.#markets.set(address.toLowerCase(), market)
    }
  }

  /** The same, with a token whose name was found out. */
  withToken(token: NamedToken): Names {
    const names = new Names({ tokens: [...this.#tokens.values(), token], markets: [], wallets: this.#wallets })
    for (const [address, market] of this.#markets) names.#markets.set(address, market)
    return names
  }

  of(address: string): string {
    const key = address.toLowerCase()
    const user = this.#wallets.get(key)
    if (user !== undefined) return oneLine(user, LONGEST)
    const name = this.#markets.get(key)?.name ?? this.#tokens.get(key)?.symbol ?? FIXED.get(key)
    return name === undefined ? `${key.slice(0, 6)}…${key.slice(-4)}` : oneLine(name, LONGEST)
  }

  token(address: string): NamedToken | undefined {
    return this.#tokens.get(address.toLowerCase())
  }

  isMarket(address: string): boolean {
    return this.#markets.has(address.toLowerCase())
  }

  /** The token of a market that takes one only. */
  tokenOf(market: string): NamedToken | undefined {
    const tokens = new Set(this.#markets.get(market.toLowerCase())?.tokens)
    const [token] = tokens
    return token !== undefined && tokens.size === 1 ? this.#tokens.get(token) : undefined
  }

  /** An amount of a token in words; minor units if the token is unknown. */
  amount(value: bigint, token: NamedToken | undefined, address: string): string {
    const symbol = token ? oneLine(token.symbol, LONGEST) : this.of(address)
    if (value >= UNLIMITED) return `any amount of ${symbol}`
    return token ? `${amountInWords(value, token.decimals)} ${symbol}` : `${value} minor units of ${symbol}`
  }
}

const FIXED: ReadonlyMap<string, string> = new Map([
  [MARKET_OWNER.toLowerCase(), "the markets' owner"],
  [MULTICALL3.toLowerCase(), 'Multicall3'],
  [`0x${'0'.repeat(40)}`, 'nobody'],
])
