import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeOf } from '../../src/control/control-error.ts'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { CLOCK, runAlone, runIsolated } from './isolated-run.ts'

const NAMESPACES = 100
/** A hundred chains on a busy machine: one of them may not answer in time, and its test is told so. */
const TRIES = 3

let sandbox: SandboxHandle

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7, clock: CLOCK, maxNodes: 128 })
})
afterAll(() => sandbox.stop())

test('a hundred tests at once, each in a namespace of its own, get byte for byte what each gets alone', async () => {
  const runs = await Promise.all([...Array(NAMESPACES).keys()].map(runBesideOthers))
  for (const told of runs) expect(told.filter((one) => one === false)).toEqual([])
  for (const i of [0, 1, 2, 3, 12, 57, 99]) expect(runs[i]).toEqual(await runAlone(i))
  expect((await sandbox.audit()).ok).toBe(true)
  expect(await sandbox.clock.iso()).toBe('2030-01-01T00:00:00.000Z')
})

/** Runs the test again, in a new namespace of the same name, when its chain did not answer in time. */
async function runBesideOthers(i: number): Promise<unknown[]> {
  for (let tries = 1; ; tries++) {
    await using mine = await sandbox.namespaces.create({ name: `n${i}` })
    try {
      const told = await runIsolated(mine, i)
      if (tries === TRIES || !JSON.stringify(told).includes('"chain_unavailable"')) return told
    } catch (error) {
      if (tries === TRIES || codeOf(error) !== 'chain_unavailable') throw error
    }
  }
}
