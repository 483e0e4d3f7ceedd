import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { CLOCK, runAlone, runIsolated } from './isolated-run.ts'

const NAMESPACES = 100

let sandbox: SandboxHandle

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7, clock: CLOCK, maxNodes: 128 })
})
afterAll(() => sandbox.stop())

test('a hundred tests at once, each in a namespace of its own, get byte for byte what each gets alone', async () => {
  const names = [...Array(NAMESPACES).keys()]
  const runs = await Promise.all(
    names.map(async (i) => {
      await using mine = await sandbox.namespaces.create({ name: `n${i}` })
      return await runIsolated(mine, i)
    }),
  )
  for (const told of runs) expect(told.filter((one) => one === false)).toEqual([])
  for (const i of [0, 1, 2, 3, 12, 57, 99]) expect(runs[i]).toEqual(await runAlone(i))
  expect((await sandbox.audit()).ok).toBe(true)
  expect(await sandbox.clock.iso()).toBe('2030-01-01T00:00:00.000Z')
})
