import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { findScenario } from '../../src/scenarios/find-scenario.ts'
import { runHere } from '../cli/in-process.ts'

const IMPATIENT = fileURLToPath(new URL('clients/impatient.mjs', import.meta.url))
export const CLIENT = `'${process.execPath}' '${IMPATIENT}'`
/** Strikes, and does no harm to this client. */
export const HARMLESS = ['--fault', 'error; status=503; operation=list_portfolios']

export let folder: string

/** Makes the folder of a file's scenarios, and removes it afterwards. */
export function scenariosFolder(): void {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'yield-sandbox-shrink-'))
  })
  afterAll(() => rm(folder, { recursive: true }))
}

export function shrinking(name: string, flags: readonly string[], script: string) {
  return runHere(['exec', ...flags, '--shrink', join(folder, name), '--', 'sh', '-c', script])
}

/** Lets two faults at deposits make it fail beside these, which do not. Returns the scenario's file, which has the two alone. */
export async function keepsTheFewest(others: readonly string[]): Promise<string> {
  const flags = [...others, '--fault', 'drop_connection; operation=deposit; times=2', '--seed', '1']
  const ended = await shrinking('New Folder/My Fewest!.yaml', flags, CLIENT)
  expect(ended.code).toBe(3)
  expect(ended.stderr).toMatch(
    /2 of the \d faults are enough: drop_connection \(during response\) at deposit 1 of alice, then drop_connection \(during response\) at deposit 2 of alice; saved as/,
  )
  const file = join(folder, 'New Folder', 'My Fewest!.yaml')
  const { name, faults, description } = await findScenario(file)
  expect(name).toBe('my-fewest')
  expect(description).toMatch(/What came of it: .*Found by yield-sandbox exec with seed 1\./)
  expect(faults.map(({ match }) => match)).toEqual([
    { operation: 'deposit', external_id: 'alice', ordinal: 1 },
    { operation: 'deposit', external_id: 'alice', ordinal: 2 },
  ])
  expect(ended.stderr).toContain(`again: yield-sandbox exec --scenario '${file}' --seed 1 -- sh -c `)
  return file
}

/** Why there is nothing to shrink, what strikes, which client runs, and its exit code. */
export const NOTHING: Record<string, [words: string, flags: readonly string[], script: string, code: number]> = {
  noFailure: ['nothing failed', HARMLESS, CLIENT.replace(/$/, ' count'), 0],
  noFault: ['no fault struck', [], `${CLIENT}; exit 7`, 7],
  alike: ['it fails alike without any fault', HARMLESS, `${CLIENT} count; exit 7`, 7],
}

export async function expectNothingToShrink([words, flags, script, code]: (typeof NOTHING)[string]): Promise<void> {
  const before = await readdir(folder)
  const ended = await shrinking('none.yaml', ['--allow-inconclusive', ...flags], script)
  expect(ended.stderr).toContain(`yield-sandbox: ${words}`)
  expect(ended.code).toBe(code)
  expect(await readdir(folder)).toEqual(before)
}
