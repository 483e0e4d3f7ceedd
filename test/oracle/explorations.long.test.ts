import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { TRIAL_OUTCOMES } from '../../src/explore/exploration.ts'
import { exploring } from '../explore/exploring.ts'
import { EXPLORED } from './table/explorations.ts'

// npm run test:oracle sets these: an exploration takes some ten seconds.
const times = Number(process.env.ORACLE_TIMES ?? 0)
const only = new RegExp(process.env.ORACLE_ONLY ?? '')

const program = fileURLToPath(new URL('clients/run.mjs', import.meta.url))

const wanted = EXPLORED.filter(({ worker }) => only.test(worker)).map((one) => [one.worker, one] as const)

test.runIf(times > 0).each(wanted)('%s', { timeout: 3_600_000 }, async (worker, { hazards, operation, worst }) => {
  const command = [process.execPath, program, worker]
  const { results } = await exploring(command, { kinds: hazards, operations: [operation] })
  const came = results.map(({ trial, outcome, sentences }) => `${trial.id}: ${outcome}; ${sentences.join('; ')}`)
  const [first] = TRIAL_OUTCOMES.filter((outcome) => results.some((result) => result.outcome === outcome))
  expect(first, came.join('\n')).toBe(worst)
})

test.runIf(times > 0)('a suite that takes faults away is told so at its first run', async () => {
  const wish = { kinds: ['cut-json'], operations: ['deposit'] } as const
  await expect(exploring([process.execPath, program, 'suite-clears-faults'], wish)).rejects.toThrow('takes faults away')
})
