import type { Dice } from './dice.ts'
import { hostileValue } from './hostile-values.ts'

/** Faults a request may bring along; what outlives the request is among them, and must not. */
export const FAULT_HEADERS: readonly string[] = [
  'drop_connection',
  'drop_connection; how=close',
  'drop_connection; how=truncate; bytes=3',
  'drop_connection; phase=after_broadcast',
  'hang',
  'hang; phase=on_request',
  'latency; delay=10ms',
  'latency; delay=5h',
  'latency; bytes_per_second=100',
  'error; status=503',
  'error; code=rate_limited; retry_after=7',
  'malformed_body',
  'malformed_body; how=cut',
  'unknown_fields',
  'unknown_fields; error_code=account_frozen',
  'deprecation',
  'expired_cursor',
  'invalid_cursor',
  'bad_signature',
  'token_expired',
  'token_wrong_audience',
  'unknown_partner',
  'insufficient_role',
  'revert',
  'stuck',
  'slow_confirmation; delay=20ms',
  'reorg',
  'chain_down; for=30ms',
  'chain_down; for=30ms; phase=after_broadcast',
  'pool_paused; pool=aave-usdc; for=30ms',
  'illiquid_pool; pool=aave-usdc; for=30ms',
  'apy_change; pool=aave-weth; apy=0.5; for=1s',
  'short_lived_token; seconds=5',
  'token_endpoint_error',
]

/** Parameters by kind, none of which concerns the first chain. */
const RULES: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  drop_connection: [{ how: 'reset' }, { how: 'close' }, { how: 'truncate', bytes: 5 }],
  hang: [{}],
  latency: [{ delay: '20ms' }, { delay: '10ms-30ms' }, { bytes_per_second: 4_000 }],
  error: [{ status: 503 }, { status: 429, retry_after: 1 }, { code: 'cursor_expired' }],
  malformed_body: [{ how: 'html' }, { how: 'cut' }],
  unknown_fields: [{}, { error_code: 'account_frozen' }],
  unknown_values: [{}, { what: 'protocol' }, { what: 'error_code' }],
  deprecation: [{}, { since: '2027-01-31', sunset: '2028-01-31', link: 'https://acme.example/x' }],
  expired_cursor: [{}],
  invalid_cursor: [{}],
  bad_signature: [{ token: 'user' }, { token: 'idp' }],
  token_expired: [{ token: 'user' }, { token: 'idp' }],
  token_wrong_audience: [{}],
  token_endpoint_error: [{}],
  short_lived_token: [{ seconds: 5 }],
  unknown_partner: [{}],
  insufficient_role: [{}],
  revert: [{}],
  stuck: [{}],
  slow_confirmation: [{ delay: '20ms' }],
  reorg: [{}],
  chain_down: [{ for: '30ms' }, { for: '200ms' }],
  pool_paused: [{ pool: 'south-aave', for: '50ms' }, { for: '50ms' }],
  illiquid_pool: [{ pool: 'south-morpho', for: '50ms' }, { for: '50ms' }],
  apy_change: [
    { pool: 'south-morpho', apy: 0.5, for: '50ms' },
    { apy: 100, for: '50ms' },
  ],
}

/** On a request, the chain_down of one tenant silences every chain. */
const PHASES: Readonly<Record<string, readonly string[]>> = {
  chain_down: ['before_broadcast', 'after_broadcast'],
  apy_change: ['before_broadcast'],
  pool_paused: ['before_broadcast'],
  illiquid_pool: ['before_broadcast'],
}
const ANY_PHASE = ['on_request', 'before_broadcast', 'after_broadcast', 'after_confirmation', 'during_response']

/** A rule that strikes nobody but the victim, whatever is wrong with it otherwise. */
export function faultRule(dice: Dice): Record<string, unknown> {
  const kind = dice.pick(Object.keys(RULES))
  const rule: Record<string, unknown> = {
    kind,
    with: { ...dice.pick(RULES[kind]!) },
    ...(dice.chance(0.5) && { phase: dice.pick(PHASES[kind] ?? ANY_PHASE) }),
    ...(kind === 'chain_down' && { phase: dice.pick(PHASES.chain_down!) }),
    ...(dice.chance(0.3) && { times: dice.pick([1, 2, 5, 'always']) }),
    ...(dice.chance(0.3) && { skip: dice.below(3) }),
    ...(dice.chance(0.3) && { probability: dice.pick([0, 0.3, 1]) }),
  }
  if (dice.chance(0.5)) spoil(rule, dice)
  const match = Object.fromEntries(
    dice.chance(0.2) ? [[dice.pick(['operation', 'external_id', 'x']), hostileValue(dice)]] : [],
  )
  return { ...rule, match: { ...match, tenant: 'victim' } }
}

/** One member becomes anything; `kind` stays, or what is left might be a rule for everybody. */
function spoil(rule: Record<string, unknown>, dice: Dice): void {
  const name = dice.pick(['with', 'with', 'times', 'skip', 'probability', 'phase', 'x', '__proto__'])
  const parameters = rule.with as Record<string, unknown>
  const inside = Object.keys(parameters)
  const value = hostileValue(dice)
  if (name !== 'with')
    Object.defineProperty(rule, name, { value, enumerable: true, configurable: true, writable: true })
  else if (inside.length > 0 && dice.chance(0.7)) rule.with = { ...parameters, [dice.pick(inside)]: value }
  else rule.with = value
}
