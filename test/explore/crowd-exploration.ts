import { fileURLToPath } from 'node:url'
import type { Exploration } from '../../src/explore/exploration.ts'
import { ENV, exploring } from './exploring.ts'

const CROWD = [process.execPath, fileURLToPath(new URL('clients/crowd.mjs', import.meta.url))]

/** What strikes one deposit after another. */
export const HIT = 'reset-after-broadcast'

/** Explores eight deposits at once. */
export const crowdExplored = (env: NodeJS.ProcessEnv, maxRuns: number): Promise<Exploration> =>
  exploring(CROWD, { kinds: [HIT], operations: ['deposit'], maxRuns, env: { ...ENV, ...env } })

/** Where the fault would strike, those that were not tried included. */
export const placesOf = ({ results, untried }: Exploration): string[] =>
  [...results.map(({ trial }) => trial.id), ...(untried?.trials ?? []).map(({ id }) => id)].sort()
