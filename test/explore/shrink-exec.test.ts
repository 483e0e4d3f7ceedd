import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findScenario } from '../../src/scenarios/find-scenario.ts'
import { runHere } from '../cli/in-process.ts'
import { CLIENT, expectNothingToShrink, folder, HARMLESS, NOTHING, scenariosFolder, shrinking } from './shrinking.ts'

scenariosFolder()

describe('exec --shrink', () => {
  test('keeps of many faults, some by chance, those that make it fail, and they do so again', async () => {
    const flags = [
      ...HARMLESS,
      ...['--fault', 'unknown_fields; times=always; probability=0.5'],
      ...['--fault', 'drop_connection; operation=deposit; times=2'],
    ]
    const ended = await shrinking('New Folder/My Fewest!.yaml', [...flags, '--seed', '1'], CLIENT)
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
    const again = await runHere(['exec', '--scenario', file, '--', 'sh', '-c', `${CLIENT} && ${CLIENT} count`])
    expect(again).toMatchObject({ code: 3, stdout: 'deposits 2\n' })
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
