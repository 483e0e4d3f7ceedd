import type { FaultRule } from '../../../src/control/contract.ts'
import { SeededRandom } from '../../../src/support/random.ts'
import type { Meddling } from '../harness/operator.ts'

/** Rules that are put in force; what the others do is done to the processes. */
const FAULTS = [
  'chain_down',
  'reorg',
  'pool_paused',
  'illiquid_pool',
  'apy_change',
  'drop_connection',
  'revert',
  'stuck',
  'slow_confirmation',
  'latency',
] as const
const BLOWS = ['kill_anvil', 'pause_anvil', 'upstream_down', 'kill_sandbox', 'stop_sandbox'] as const
const KINDS = [...FAULTS, ...BLOWS]
/** Everything that can go wrong. */
export type Kind = (typeof KINDS)[number]

/** Two kinds, the second shortly after the first. */
export type Pair = readonly [Kind, Kind]

/** Every episode has two of these, each after a few short outages: a call that is cut off is what they all are about. */
const CRITICAL: readonly Pair[] = [
  ['chain_down', 'reorg'],
  ['chain_down', 'kill_anvil'],
  ['pause_anvil', 'reorg'],
  ['chain_down', 'kill_sandbox'],
  ['kill_anvil', 'reorg'],
  ['reorg', 'kill_anvil'],
  ['reorg', 'chain_down'],
  ['chain_down', 'chain_down'],
  ['reorg', 'kill_sandbox'],
  ['chain_down', 'pause_anvil'],
  ['upstream_down', 'reorg'],
]

/** Episodes that one sandbox lives through, unless one of them fails. */
const EPISODES_A_LIFE = 12
const CRITICAL_AN_EPISODE = 2
const OTHERS_AN_EPISODE = 2
/** Outages before a critical pair, at most. */
const OUTAGES = 5
/** Milliseconds from one of a pair to the other, at most. */
const GAP = 200
/** Milliseconds between pairs. */
const REST = 700
/** Blocks and transactions after which a node is renewed, where it is. */
const RENEW_AFTER = 150

/** What kind of sandbox is tormented. */
export interface LifePlan {
  number: number
  forked: boolean
  /** Whether it has a data directory: only then can it be ended and go on. */
  kept: boolean
  renewAfter: number | undefined
}

/** Something that is done, so many milliseconds after what was done before it. */
export interface Step {
  after: number
  kind: Kind
  /** What a fault says of itself. */
  rule?: FaultRule
  /** Milliseconds that it lasts, if it does not end by itself. */
  lasts?: number
}

/** A while of load with things going wrong, then a look at everything. */
export interface Episode {
  number: number
  life: LifePlan
  /** Groups of steps that go together. */
  groups: Step[][]
  /** Milliseconds that a client pauses at most between two orders. */
  pause: number
  /** What an operator does meanwhile. */
  meddling: Meddling[]
  /** The `--confirmation-delay` from the next start on. */
  delay: string
  /** Who is ended in the end, with nothing under way: the chain must come back as it was. */
  last: 'kill_anvil' | 'kill_sandbox' | 'stop_sandbox' | 'nobody'
}

type Draw = (limit: number) => number

/** An episode of a seed: always the same, whatever went before it. */
export function planEpisode(seed: number, number: number): Episode {
  const random = new SeededRandom(seed)
  const draw: Draw = (limit) => Math.floor(random.next(`episode ${number}`) * limit)
  const life = planLife(seed, Math.floor((number - 1) / EPISODES_A_LIFE))
  const groups = pairsOf(seed, number).map((pair, index) => {
    const outages = index < CRITICAL_AN_EPISODE ? draw(OUTAGES) : 0
    return group([...Array<Kind>(outages).fill('chain_down'), ...pair], life, draw)
  })
  const last = (['kill_anvil', 'kill_sandbox', 'stop_sandbox', 'nobody'] as const)[draw(4)] ?? 'nobody'
  return {
    number,
    life,
    groups,
    // What others do is kept in a checkpoint, which would hide what is missing before it.
    meddling: ([[], [], ['move_clock', 'mine', 'own_transaction'], MEDDLING] as Meddling[][])[draw(4)] ?? [],
    delay: draw(3) ? '0' : '5ms-150ms',
    pause: draw(3) ? 2 : 40,
    last: life.kept || last === 'nobody' ? last : 'kill_anvil',
  }
}

const MEDDLING: Meddling[] = ['move_clock', 'mine', 'set_balance', 'own_transaction']

function planLife(seed: number, index: number): LifePlan {
  const random = new SeededRandom(seed)
  return {
    number: index + 1,
    forked: index % 2 === 1,
    kept: index % 4 === 0 || index % 4 === 3,
    renewAfter: random.next(`life ${index}`) < 0.4 ? RENEW_AFTER : undefined,
  }
}

/** The next that are critical, and the next of all there are. */
function pairsOf(seed: number, number: number): Pair[] {
  const random = new SeededRandom(seed)
  const all = KINDS.flatMap((one) => KINDS.map((other): Pair => [one, other]))
  const deck = all
    .map((pair) => ({ pair, place: random.next('deck') }))
    .sort((a, b) => a.place - b.place)
    .map(({ pair }) => pair)
  const next = (pairs: readonly Pair[], count: number) =>
    Array.from({ length: count }, (_, i) => pairs[((number - 1) * count + i) % pairs.length]!)
  return [...next(CRITICAL, CRITICAL_AN_EPISODE), ...next(deck, OTHERS_AN_EPISODE)]
}

function group(row: readonly Kind[], { kept, forked }: LifePlan, draw: Draw): Step[] {
  const kinds = [...row]
  if (row.at(-1) === 'kill_anvil' && draw(2)) kinds.push('reorg')
  else if (draw(4) === 0) kinds.push(KINDS[draw(KINDS.length)]!)
  return kinds
    .map((kind) => possible(kind, kept, forked))
    .map((kind, index) => {
      const gap = Math.floor((GAP * draw(100) * draw(100)) / 10_000) // mostly short
      const after = index === 0 ? draw(REST) : gap
      if (kind === 'pause_anvil') return { after, kind, lasts: draw(30) ? 10 + draw(500) : 10_500 }
      if (kind === 'upstream_down') return { after, kind, lasts: 10 + draw(500) }
      return isFault(kind) ? { after, kind, rule: ruleOf(kind, draw) } : { after, kind }
    })
}

function possible(kind: Kind, kept: boolean, forked: boolean): Kind {
  if (!kept && (kind === 'kill_sandbox' || kind === 'stop_sandbox')) return 'kill_anvil'
  // The markets of a fork are somebody else's.
  if (forked && (kind === 'pool_paused' || kind === 'illiquid_pool' || kind === 'apy_change')) return 'upstream_down'
  if (!forked && kind === 'upstream_down') return 'chain_down'
  return kind
}

function isFault(kind: Kind): kind is (typeof FAULTS)[number] {
  return (FAULTS as readonly string[]).includes(kind)
}

function ruleOf(kind: (typeof FAULTS)[number], draw: Draw): FaultRule {
  const oneOf = <Item>(items: readonly Item[]): Item => items[draw(items.length)]!
  const times = 1 + draw(2)
  const brief = () => `${5 + draw(draw(3) ? 60 : 400)}ms`
  const forAWhile = () => (draw(8) ? { for: brief() } : {})
  const transfers = ['before_broadcast', 'after_broadcast', 'after_confirmation'] as const
  if (kind === 'chain_down') {
    const phase = oneOf(['on_request', 'before_broadcast', 'after_broadcast'] as const)
    return { kind, phase, skip: draw(6), with: forAWhile() }
  }
  if (kind === 'pool_paused' || kind === 'illiquid_pool') return { kind, phase: 'before_broadcast', with: forAWhile() }
  if (kind === 'apy_change') return { kind, phase: 'before_broadcast', with: { apy: draw(30) / 100, ...forAWhile() } }
  if (kind === 'drop_connection') {
    const how = oneOf(['reset', 'close', 'truncate'] as const)
    return { kind, times: times * 2, phase: oneOf(['on_request', ...transfers, 'during_response']), with: { how } }
  }
  if (kind === 'slow_confirmation') return { kind, times, with: { delay: brief() } }
  if (kind === 'latency') return { kind, times, phase: oneOf(['on_request', ...transfers]), with: { delay: brief() } }
  return { kind, times }
}

/** An episode in words. */
export function inWords({ number, life, groups, meddling, delay, last }: Episode): string {
  const step = ({ after, kind, rule, lasts }: Step) => {
    const { for: lasting, delay: late, how } = (rule?.with ?? {}) as Record<string, string>
    const details = [rule?.phase, how, lasting ?? late ?? (lasts && `${lasts}ms`), rule?.times && `x${rule.times}`]
    return `${after}ms ${kind}(${details.filter(Boolean).join(' ')})`.replace('()', '')
  }
  const chain = `${life.forked ? 'fork' : 'embedded'}${life.kept ? ', data directory' : ''}`
  const renewed = life.renewAfter ? `, renewed after ${life.renewAfter}` : ''
  const steps = groups.map((group) => group.map(step).join(' → ')).join('; ')
  const meddled = meddling.length > 0 ? `; meanwhile ${meddling.join(', ')}` : ''
  const what = `life ${life.number} (${chain}${renewed})`
  return `episode ${number}, ${what}: ${steps}${meddled}; delay ${delay}; in the end ${last}`
}
