import { describe, expect, test } from 'vitest'
import { runHere } from '../cli/in-process.ts'
import { expectNothingToShrink, NOTHING, scenariosFolder } from './shrinking.ts'

scenariosFolder()

describe('exec --shrink', () => {
  // Which faults it keeps: shrink.test.ts, and of a command shrink-exec.long.test.ts.
  // When it does not come again, nothing failed, or no fault struck: shrink-exec.long.test.ts.
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
