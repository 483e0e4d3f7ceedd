import { join } from 'node:path'
import { expect, test } from 'vitest'
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

test('keeps of many faults, some by chance, those that make it fail, and they do so again', async () => {
  const file = await keepsTheFewest([...HARMLESS, '--fault', 'unknown_fields; times=always; probability=0.5'])
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

test.each([NOTHING.noFailure!, NOTHING.noFault!])('says that there is nothing to shrink when %s', (...nothing) =>
  expectNothingToShrink(nothing),
)
