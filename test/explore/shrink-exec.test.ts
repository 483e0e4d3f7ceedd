import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findScenario } from '../../src/scenarios/find-scenario.ts'
import { runHere } from '../cli/in-process.ts'
import {
  CLIENT,
  expectNothingToShrink,
  folder,
  HARMLESS,
  keepsTheFewest,
  NOTHING,
  scenariosFolder,
  shrinking,
} from './shrinking.ts'

scenariosFolder()

describe('exec --shrink', () => {
  // Of many faults, some by chance: shrink-exec.long.test.ts.
  test('keeps of the faults those that make it fail', async () => {
    await keepsTheFewest(HARMLESS)
  })

  test('says that a failure does not come again, and keeps all that struck', async () => {
    const once = `${CLIENT}; test -e ${join(folder, 'flag')} && exit 0; touch ${join(folder, 'flag')}; exit 7`
    const ended = await shrinking('whole.yaml', HARMLESS, once)
    expect(ended.code).toBe(7)
    expect(ended.stderr).toMatch(/did not come again with the same faults: it depends on the client's own randomness/)
    expect((await findScenario(join(folder, 'whole.yaml'))).faults).toHaveLength(1)
  })

  // When nothing failed, or no fault struck: shrink-exec.long.test.ts.
  test('says that there is nothing to shrink when it fails alike without any fault', () =>
    expectNothingToShrink(NOTHING.alike!))

  test.each([
    ['--shrink "fewest" must be a file that ends with .yaml', ['--shrink', 'fewest']],
    [
      '--shrink goes with one scenario',
      ['--shrink', 'a.yaml', '--scenario', 'dropped-deposit', '--scenario', 'rate-limited'],
    ],
    ['--shrink /proc/none/a.yaml cannot be written', ['--shrink', '/proc/none/a.yaml']],
  ])('is refused: %s', async (words, flags) => {
    const ended = await runHere(['exec', ...flags, '--', 'true'])
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain(words)
  })
})
