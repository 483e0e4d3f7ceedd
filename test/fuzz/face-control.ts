import type { Dice } from './dice.ts'
import { breaksOut, type FuzzRequest, type HttpDeps, type Shooter, written } from './fuzz-request.ts'
import { hostileBody, hostileValue, jsonText, STRINGS } from './hostile-values.ts'
import { mutate, percentEncoded } from './mutate.ts'
import { faultRule } from './sound-faults.ts'
import type { Weather } from './weather.ts'

/** As often as each is sent; audits and resets take long. */
const OPERATIONS = {
  get_health: 30,
  get_readiness: 30,
  get_credentials: 30,
  list_assumptions: 10,
  get_audit: 3,
  get_money: 5,
  list_chain_transactions: 5,
  reset: 1,
  get_clock: 20,
  move_clock: 110,
  list_faults: 30,
  add_faults: 180,
  clear_faults: 60,
  remove_fault: 20,
  list_scenarios: 10,
  start_own_scenario: 60,
  start_scenario: 20,
  stop_scenario: 15,
  mint_user_token: 90,
  mint_idp_token: 90,
  get_jwks: 15,
  get_openid_configuration: 15,
  openapi: 5,
  docs: 15,
}
type Operation = keyof typeof OPERATIONS

const MOVES = [
  '0s',
  '1ms',
  '2s',
  '10m',
  '1h',
  '-1s',
  '1e9d',
  '999999999999d',
  '1',
  '',
  '1d 1h',
  '0.5s',
  'PT1H',
  '1s-2s',
]
const FAR_MOVES = ['400d', '9000d', '100000d', '2913000d']
const MOMENTS = [
  '2020-01-01T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '9999-12-31',
  'tomorrow',
  '2027-02-30T00:00:00Z',
  '12',
]
const FAR_MOMENTS = ['2100-01-01T00:00:00Z', '9999-12-30T23:59:59Z']

/** A request to the control interface, the identity provider's documents or the interface description. */
export const shootControl: Shooter = (dice, _world, weather) => {
  const operation = dice.weighted(OPERATIONS)
  if (operation === 'reset' && weather !== 'stormy') return finished('get_clock', { ...get('/_sandbox/clock') })
  const deps = partsOf(operation, dice, weather)
  if (deps.body !== undefined) deps.headers.push(['content-type', 'application/json'])
  // Whatever else a changed body may be, it is no rule and no move that the watched tenants would feel.
  if (dice.chance(0.3)) mutate(deps, dice)
  // A path that was changed may be that of a reset.
  return finished(operation, deps)
}

const get = (path: string): HttpDeps => ({ method: 'GET', path, headers: [] })
const post = (path: string, body?: unknown): HttpDeps => ({
  method: 'POST',
  path,
  headers: [],
  ...(body !== undefined && { body: typeof body === 'string' || Buffer.isBuffer(body) ? body : jsonText(body) }),
})

function finished(what: string, deps: HttpDeps): FuzzRequest {
  return { what, bytes: written(deps), method: deps.method, path: deps.path, alone: breaksOut(deps) }
}

function partsOf(operation: Operation, dice: Dice, weather: Weather): HttpDeps {
  const id = () => percentEncoded(dice.chance(0.5) ? `fault-${dice.below(200)}` : dice.pick(STRINGS).slice(0, 2_000))
  switch (operation) {
    case 'reset':
      return post('/_sandbox/reset')
    case 'move_clock':
      return post('/_sandbox/clock', dice.chance(0.1) ? hostileBody(dice) : moveOf(dice, weather))
    case 'add_faults':
      return post('/_sandbox/faults', rulesOf(dice))
    case 'clear_faults':
      return { ...get('/_sandbox/faults'), method: 'DELETE' }
    case 'remove_fault':
      return { ...get(`/_sandbox/faults/${id()}`), method: 'DELETE' }
    case 'start_own_scenario':
      return post('/_sandbox/scenarios', dice.chance(0.1) ? hostileBody(dice) : scenarioOf(dice))
    case 'start_scenario':
      return post(`/_sandbox/scenarios/${id()}/start`)
    case 'stop_scenario':
      return post('/_sandbox/scenarios/stop')
    case 'mint_user_token':
    case 'mint_idp_token':
      return mintOf(operation, dice)
    case 'docs':
      return get(`/docs${dice.pick(['', '/', '/docs.css', '/nothing', '/../../package.json', '/%2e%2e/x'])}`)
    default:
      return get(PATHS[operation])
  }
}

const PATHS = {
  get_health: '/_sandbox/health',
  get_readiness: '/_sandbox/ready',
  get_credentials: '/_sandbox/credentials',
  list_assumptions: '/_sandbox/assumptions',
  get_audit: '/_sandbox/audit',
  get_money: '/_sandbox/money',
  list_chain_transactions: '/_sandbox/transactions',
  get_clock: '/_sandbox/clock',
  list_faults: '/_sandbox/faults',
  list_scenarios: '/_sandbox/scenarios',
  get_jwks: '/.well-known/jwks.json',
  get_openid_configuration: '/.well-known/openid-configuration',
  openapi: '/openapi.json',
}

function moveOf(dice: Dice, weather: Weather): unknown {
  const far = weather === 'stormy' && dice.chance(0.02)
  const what = dice.weighted({ advance: 6, set: 4, freeze: 4, both: 1, hostile: 3 })
  const advance = dice.pick(far ? FAR_MOVES : MOVES)
  const set = dice.pick(far ? FAR_MOMENTS : MOMENTS)
  if (what === 'advance') return { advance }
  if (what === 'set') return { set }
  if (what === 'freeze') return { freeze: dice.chance(0.5) }
  if (what === 'both') return { advance, set, freeze: true }
  return { [dice.pick(['advance', 'freeze', 'x', '__proto__'])]: hostileValue(dice) }
}

function rulesOf(dice: Dice): unknown {
  if (dice.chance(0.1)) return hostileBody(dice)
  if (dice.chance(0.8)) return faultRule(dice)
  return Array.from({ length: dice.below(dice.chance(0.02) ? 300 : 5) }, () => faultRule(dice))
}

function scenarioOf(dice: Dice): unknown {
  const scenario: Record<string, unknown> = {
    name: 'rainy-day',
    description: 'x',
    faults: Array.from({ length: dice.below(4) }, () => faultRule(dice)),
    clock: [{ advance: dice.pick(MOVES), after: { operation: 'list_pools', times: 1 + dice.below(3) } }],
    expect: { findings: ['idempotency-key-on-retry'], traffic: { operations: ['deposit'] } },
  }
  const name = dice.pick([...Object.keys(scenario), 'x'])
  if (name !== 'faults' && dice.chance(0.5)) scenario[name] = hostileValue(dice)
  return scenario
}

function mintOf(operation: 'mint_user_token' | 'mint_idp_token', dice: Dice): HttpDeps {
  const slug = dice.chance(0.9) ? dice.pick(['acme', 'victim']) : percentEncoded(dice.pick(STRINGS).slice(0, 2_000))
  const wish: Record<string, unknown> = operation === 'mint_user_token' ? { external_id: 'alice' } : {}
  const name = dice.pick(['external_id', 'claims', 'header', 'expires_in', 'key', 'x'])
  // Signing takes long: most are refused.
  if (dice.chance(0.9)) wish[name] = hostileValue(dice)
  else wish[dice.pick(['claims', 'header'])] = { [dice.pick(STRINGS)]: hostileValue(dice) }
  return post(`/_sandbox/tenants/${slug}/${operation === 'mint_user_token' ? 'user' : 'idp'}_tokens`, wish)
}
