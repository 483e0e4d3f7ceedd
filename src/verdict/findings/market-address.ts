import { jsonObject } from '../../support/json.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { succeeded } from '../evidence/answers.ts'
import { isHabit, PERHAPS_A_TEST } from '../evidence/doubts.ts'
import { parsedBody } from '../evidence/requests.ts'
import { plural, quote } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const marketAddress: Finding = {
  id: 'market-address',
  title: 'market_address is the one of the pool list',
  failureTitle: "The token's address is sent as market_address: no portfolio can be created",
  rule: 'Pool: "market_address: Ethereum address of the pool or vault contract. It is NOT the token address. It is passed verbatim as market_address when creating a portfolio."',
  impact: 'serious',
  consequence: 'Every creation of a portfolio is refused with 422 pool_not_found: nobody can deposit.',
  situation: 'a portfolio created for a pool of the list',
  exerciseWith: '',
  fix: 'Take chain_id, token_address, market_address and protocol together from one item of GET /v1/partner/pools, and send all four unchanged.',
  wrongClients: ['token-address-as-market'],
  judge,
}

/** The pool that a request asks for. */
interface Wanted {
  exchange: RecordedExchange
  market: string
  token: string
  /** True if an earlier answer to the same tenant listed it. */
  listed: boolean
}

function judge(evidence: Evidence): Judgement {
  const wanted = wantedPools(evidence)
  const wrong = wanted.filter(({ market, token }) => market === token)
  const listed = wanted.filter((one) => one.listed && !wrong.includes(one))
  const [first] = wrong
  if (first) {
    const facts = `${plural(wrong.length, 'portfolio')} asked for with the token's address as market_address, ${listed.length} with that of the pool list.`
    const shown = wrong.slice(0, 2).map(({ exchange }) => exchange)
    if (!isHabit(wanted.length - wrong.length, wrong.length)) return needsReview(`${facts} ${PERHAPS_A_TEST}`, shown)
    return failed(
      facts,
      { expected: 'market_address of the pool list', came: `${quote(first.market)}, which is token_address` },
      shown,
    )
  }
  const [right] = listed
  if (right)
    return passed(`${plural(listed.length, 'portfolio')} asked for with the addresses of a pool of the list.`, [
      right.exchange,
    ])
  const [unknown] = wanted
  if (!unknown) return notExercised('No portfolio was asked for.')
  const reason = `market_address ${quote(unknown.market)} stood in no list of pools that the client got before; it may be fixed in its configuration.`
  return needsReview(reason, [unknown.exchange])
}

function wantedPools({ exchanges, settings }: Evidence): Wanted[] {
  const listed = new Set<string>()
  return exchanges.flatMap((exchange) => {
    if (exchange.operation === 'list_pools') {
      for (const pool of poolsIn(exchange)) listed.add(poolKey(exchange, pool))
    }
    if (exchange.operation !== 'create_portfolio') return []
    const { market_address: market, token_address: token, chain_id, ...asked } = parsedBody(exchange)
    if (typeof market !== 'string' || typeof token !== 'string') return []
    const protocol = asked.protocol ?? settings.protocols[0]
    const pool = { chain_id, token_address: token, market_address: market, protocol }
    return [
      {
        exchange,
        market: market.toLowerCase(),
        token: token.toLowerCase(),
        listed: listed.has(poolKey(exchange, pool)),
      },
    ]
  })
}

function poolsIn(exchange: RecordedExchange): Record<string, unknown>[] {
  const { response } = exchange
  if (!succeeded(exchange) || !response || response.body_cut) return []
  const data = jsonObject(response.body)?.data
  return Array.isArray(data) ? data.filter((item) => item !== null) : []
}

/** A key of a pool; the case of hexadecimal digits makes no difference. */
function poolKey({ tenant }: RecordedExchange, pool: Record<string, unknown>): string {
  const { chain_id, token_address, market_address, protocol } = pool
  return JSON.stringify([tenant, chain_id, token_address, market_address, protocol]).toLowerCase()
}
