import type { Exploration, TrialOutcome } from '../../src/explore/exploration.ts'
import { type ExploreTerms, explore } from '../../src/explore/explore.ts'
import { abortController } from '../../src/support/waiting.ts'

/** Nobody interrupts a test. */
export const NEVER = { asked: abortController().signal, insisted: abortController().signal }

/** What the examples' demos need; they need not wait for tokens to age. */
export const ENV: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  PYTHONDONTWRITEBYTECODE: '1',
  DEMO_PAUSE: '0.01',
}

/** Explores a command with what the command line takes by default, without showing anything. */
export async function exploring(command: readonly string[], wish: Partial<ExploreTerms> = {}): Promise<Exploration> {
  const exploration = await explore({
    command,
    before: undefined,
    renames: [],
    env: ENV,
    interruption: NEVER,
    kinds: [],
    operations: [],
    depth: 1,
    jobs: 2,
    maxRuns: undefined,
    budget: undefined,
    timeout: undefined,
    tolerate: false,
    clock: undefined,
    flags: [],
    out: process.stdout,
    known: new Map(),
    watch: { baseline: () => undefined, planned: () => undefined, tried: () => undefined },
    ...wish,
    options: { confirmationDelay: 0, seed: 7, ...wish.options },
  })
  if (!exploration) throw new Error('nobody interrupts it')
  return exploration
}

/** Outcomes of a client that is not fit for production. */
export const BAD: readonly TrialOutcome[] = [
  ...(['paid_twice', 'took_out_unpaid', 'untold', 'hung', 'paid_twice_put_right', 'made_twice'] as const),
]

/** Ids of the trials that came to one of these outcomes, with what happened. */
export function cameTo({ results }: Exploration, ...outcomes: readonly TrialOutcome[]): string[] {
  const found = results.filter(({ outcome }) => outcomes.includes(outcome))
  return found.map(({ trial, outcome, sentences }) => `${trial.id}: ${outcome}; ${sentences.join('; ')}`)
}
