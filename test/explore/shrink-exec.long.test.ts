import { expect, test } from 'vitest'
import { runHere } from '../cli/in-process.ts'
import { CLIENT, expectNothingToShrink, HARMLESS, keepsTheFewest, NOTHING, scenariosFolder } from './shrinking.ts'

scenariosFolder()

test('keeps of many faults, some by chance, those that make it fail, and they do so again', async () => {
  const file = await keepsTheFewest([...HARMLESS, '--fault', 'unknown_fields; times=always; probability=0.5'])
  const again = await runHere(['exec', '--scenario', file, '--', 'sh', '-c', `${CLIENT} && ${CLIENT} count`])
  expect(again).toMatchObject({ code: 3, stdout: 'deposits 2\n' })
})

test.each([NOTHING.noFailure!, NOTHING.noFault!])('says that there is nothing to shrink when %s', (...nothing) =>
  expectNothingToShrink(nothing),
)
