import type { Dice } from './dice.ts'
import { breaksOut, type FuzzRequest, type HttpDeps, type Shooter, written } from './fuzz-request.ts'
import { DIGITS, hostileValue, jsonText } from './hostile-values.ts'
import { hostileHeader, hostileQuery, mutate, percentEncoded } from './mutate.ts'
import { FAULT_HEADERS } from './sound-faults.ts'
import type { Shot, World } from './world.ts'

/** As often as each is sent. */
const OPERATIONS = {
  list_pools: 16,
  create_end_user: 10,
  create_portfolio: 12,
  list_portfolios: 14,
  deposit: 20,
  withdraw: 12,
  list_transactions: 16,
}
type Operation = keyof typeof OPERATIONS

const LISTS: readonly Operation[] = ['list_pools', 'list_portfolios', 'list_transactions']
/** So few that some come again, with another body. */
const KEYS = 400

/** A request to one of the seven endpoints: sound, or with some parts of it changed. */
export const shootService: Shooter = (dice, world) => {
  const operation = dice.weighted(OPERATIONS)
  const shot = dice.chance(0.05) ? world.victim : world.acme
  const user = dice.chance(0.6) ? shot.users[0]! : dice.pick(shot.users)
  const list = LISTS.includes(operation)
  const method = list ? 'GET' : 'POST'
  const deps: HttpDeps = { method, path: pathOf(operation, user.external_id), headers: [] }
  deps.headers.push(['authorization', authorization(dice, shot, world)])
  if (deps.path.includes('end_users/')) deps.headers.push(['x-user-token', userToken(dice, user.token, world)])
  if (!list) {
    deps.headers.push(['idempotency-key', keyOf(dice)], ['content-type', 'application/json'])
    deps.body = jsonText(bodyOf(operation, dice, shot))
  } else if (dice.chance(0.7)) deps.path += `?${queryOf(dice, world)}`
  if (dice.chance(0.5)) mutate(deps, dice)
  const struck = dice.chance(0.03)
  if (struck) deps.headers.push(['x-sandbox-fault', dice.chance(0.8) ? dice.pick(FAULT_HEADERS) : hostileHeader(dice)])
  return finished(operation, deps, struck || shot === world.victim)
}

function finished(what: string, deps: HttpDeps, struck: boolean): FuzzRequest {
  const { method, path } = deps
  const alone = breaksOut(deps) || struck
  return {
    what,
    bytes: written(deps),
    method,
    path,
    alone,
    ...(struck && { struck }),
    ...(alone && { mayBeSilent: struck }),
  }
}

function pathOf(operation: Operation, external_id: string): string {
  const below = `/v1/partner/end_users/${external_id}`
  if (operation === 'list_pools') return '/v1/partner/pools'
  if (operation === 'create_end_user') return '/v1/partner/end_users'
  if (operation === 'list_transactions') return `${below}/transactions`
  return operation === 'create_portfolio' || operation === 'list_portfolios'
    ? `${below}/portfolios`
    : `${below}/${operation}`
}

function authorization(dice: Dice, { token }: Shot, { wrongTokens }: World): string {
  if (dice.chance(0.85)) return `Bearer ${token}`
  const scheme = dice.pick(['Bearer', 'bearer', 'BEARER ', 'Basic', 'DPoP', ''])
  return dice.chance(0.7) ? `${scheme} ${dice.pick(wrongTokens)}` : hostileHeader(dice)
}

function userToken(dice: Dice, token: string, { wrongTokens }: World): string {
  if (dice.chance(0.85)) return token
  return dice.chance(0.7) ? dice.pick(wrongTokens) : hostileHeader(dice)
}

function keyOf(dice: Dice): string {
  const what = dice.weighted({ fresh: 14, again: 4, quoted: 1, hostile: 1 })
  if (what === 'again') return `7c9e6679-7425-40de-944b-${String(dice.below(KEYS)).padStart(12, '0')}`
  if (what === 'hostile') return hostileHeader(dice)
  return what === 'quoted' ? `"${dice.uuid()}"` : dice.uuid()
}

function queryOf(dice: Dice, { cursors }: World): string {
  const what = dice.weighted({ sound: 4, cursor: 3, altered: 3, hostile: 6 })
  const cursor = dice.pick(cursors)
  if (what === 'sound') return `limit=${1 + dice.below(100)}`
  if (what === 'hostile') return hostileQuery(dice)
  if (what === 'cursor') return `${dice.pick(['starting_after', 'ending_before'])}=${cursor}&limit=${dice.below(120)}`
  const at = dice.below(cursor.length)
  return `starting_after=${cursor.slice(0, at)}${percentEncoded(dice.pick(['A', '', '=', '.', '~']))}${cursor.slice(at + 1)}`
}

/** A body's members, most of them sound. */
function bodyOf(operation: Operation, dice: Dice, shot: Shot): unknown {
  const body = soundBody(operation, dice, shot)
  for (let left = dice.weighted({ 0: 3, 1: 6, 2: 2 }); Number(left) > 0; left = String(Number(left) - 1) as '0') {
    const what = dice.weighted({ change: 6, drop: 1, add: 1 })
    const name = dice.pick(Object.keys(body))
    if (what === 'change') body[name] = hostileValue(dice)
    else if (what === 'drop' && Object.keys(body).length > 1) delete body[name]
    else Object.assign(body, { [dice.pick(['x', '', 'constructor', 'portfolio_id', 'user_jwt'])]: hostileValue(dice) })
  }
  return body
}

function soundBody(operation: Operation, dice: Dice, shot: Shot): Record<string, unknown> {
  if (operation === 'create_end_user') {
    const { external_id, token } = dice.pick(shot.users)
    const known = dice.chance(0.9) ? external_id : `user-${dice.below(100)}`
    return { external_id: known, ...(dice.chance(0.2) && { user_jwt: token }) }
  }
  if (operation === 'create_portfolio') {
    const { chain_id, token_address, market_address, protocol } = dice.pick(shot.pools)
    return { name: 'Rainy day', description: 'x', chain_id, token_address, market_address, protocol }
  }
  const amount = dice.chance(0.7) ? String(1 + dice.below(1_000_000)) : dice.pick(DIGITS)
  return { portfolio_id: dice.pick(shot.portfolios), amount_minor: amount }
}
