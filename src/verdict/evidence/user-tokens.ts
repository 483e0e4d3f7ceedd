import type { RecordedExchange, ShownToken } from '../../traffic/recorded-exchange.ts'

/** Every user token once, with the first exchange that sent it. What is no JWT is left out. */
export function userTokens(exchanges: readonly RecordedExchange[]): (ShownToken & { exchange: RecordedExchange })[] {
  const tokens = new Map<string, ShownToken & { exchange: RecordedExchange }>()
  for (const exchange of exchanges) {
    const token = exchange.request.user_token
    if (!token?.header || !token.claims || tokens.has(token.fingerprint)) continue
    tokens.set(token.fingerprint, { ...token, exchange })
  }
  return [...tokens.values()]
}
