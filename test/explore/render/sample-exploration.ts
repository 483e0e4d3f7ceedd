import type { Exploration, TrialOutcome, TrialResult } from '../../../src/explore/exploration.ts'
import { type PlannedTrial, planTrials, withoutPlan } from '../../../src/explore/plan/plan.ts'
import type { Place } from '../../../src/explore/plan/positions.ts'
import { type Level, OUTCOMES } from '../../../src/oracle/outcome.ts'

/** Places of a command that deposits twice for one end user and lists pools. */
export function samplePlaces(user = 'alice'): Place[] {
  const place = (operation: 'list_pools' | 'deposit', ordinal: number): Place => {
    const own = operation === 'deposit'
    return {
      position: { operation, tenant: null, external_id: own ? user : null, end_user: own ? 1 : null, ordinal },
      transferred: own,
      has_cursor: false,
      answer: '200',
    }
  }
  return [place('list_pools', 1), place('deposit', 1), place('deposit', 2)]
}

/** All single trials at these places. */
export function sampleTrials(user?: string): PlannedTrial[] {
  return planTrials(samplePlaces(user), { kinds: [], operations: [] })
}

function levelOf(outcome: TrialOutcome): Level {
  if (outcome === 'survived') return 'ok'
  if (outcome === 'errored') return 'inconclusive'
  if (outcome === 'left_undone') return 'critical'
  if (outcome === 'gave_up_safely') return 'warning'
  return outcome === 'not_exercised' ? 'none' : OUTCOMES[outcome].level
}

/** What a trial came to. */
export function resultOf(trial: PlannedTrial, outcome: TrialOutcome, more: Partial<TrialResult> = {}): TrialResult {
  return {
    trial: withoutPlan(trial),
    outcome,
    level: levelOf(outcome),
    sentences: ['the same money'],
    operations: [],
    findings: [],
    end: '0',
    took_ms: 200,
    overhead_ms: 12,
    repeat: `yield-sandbox exec --fault 'revert' -- npm test`,
    ...more,
  }
}

/** An exploration with every outcome, the last trials not tried, as a command that calls everything `text` would have it. */
export function sampleExploration(text = 'alice'): Exploration {
  const trials = sampleTrials(text)
  const twice = `${text}: 2,000.00 USDC in aave-usdc instead of 1,000.00 (deposit of 1,000.00: twice instead of once)`
  const finding = {
    id: 'idempotency-key-on-retry',
    title: 'A dropped transfer was retried with a new Idempotency-Key: this pays twice',
    explanation: `${text}'s deposit was repeated under another key.`,
    fix: 'Make the Idempotency-Key once per operation, before the first attempt.',
  }
  const special: Record<string, (trial: PlannedTrial) => TrialResult> = {
    'reset-after-broadcast': (trial) =>
      resultOf(trial, 'paid_twice', { sentences: [twice], findings: [finding], repeat: `again -- ${text}` }),
    'close-after-broadcast': (trial) =>
      resultOf(trial, 'paid_twice', { sentences: [twice], findings: [finding], repeat: `again -- ${text}` }),
    'hang-on-request': (trial) => resultOf(trial, 'hung', { sentences: ['the command was not done in time'] }),
    revert: (trial) => resultOf(trial, 'made_twice', { sentences: [`the command ended with code 1`, twice] }),
    'cut-json': (trial) => resultOf(trial, 'errored', { sentences: [`--before failed: ${text}`] }),
    'proxy-page': (trial) => resultOf(trial, 'gave_up', { sentences: ['the same money, but it failed'] }),
    'unknown-fields': (trial) => resultOf(trial, 'not_exercised', { sentences: ['the fault never struck'] }),
  }
  const tried = trials.filter(({ harms: [harm] }) => harm?.hazard.id !== 'slow-answer')
  const left = trials.filter((trial) => !tried.includes(trial))
  const results = tried.map((trial) =>
    (special[trial.harms[0]!.hazard.id] ?? ((one) => resultOf(one, 'survived')))(trial),
  )
  return {
    version: '0.1.0',
    command: ['npm', 'test', text],
    seed: 7,
    clock: '2026-11-23T01:00:00.000Z',
    created_at: '2026-11-23T01:00:00.000Z',
    baseline: {
      exchanges: 3,
      positions: 3,
      took_ms: [200, 210],
      difference: `${text} differs`,
      left_behind: [text],
      shared_keys: 0,
    },
    results,
    untried: { trials: left.map(withoutPlan), reason: '--max-runs 40' },
    took_ms: 61_000,
    jobs: 2,
  }
}
