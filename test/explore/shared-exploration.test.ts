import { expect, test } from 'vitest'
import { sharedExploration } from '../../src/explore/results/exploration-files.ts'
import { resultOf, sampleExploration, sampleTrials } from './render/sample-exploration.ts'

test('a report for others shows the home folder as ~, in the command, in what repeats a run, and in saved files', () => {
  const [trial] = sampleTrials()
  const result = resultOf(trial!, 'paid_twice', {
    repeat: 'yield-sandbox explore -- node /home/al/suite.mjs',
    smallest: { harms: trial!.harms, minimal: true, file: '/home/al/x.yaml' },
  })
  const exploration = { ...sampleExploration(), command: ['node', '/home/al/suite.mjs'], results: [result] }
  expect(sharedExploration(exploration, '/home/al')).toEqual({
    ...exploration,
    command: ['node', '~/suite.mjs'],
    results: [
      {
        ...result,
        repeat: 'yield-sandbox explore -- node ~/suite.mjs',
        smallest: { ...result.smallest, file: '~/x.yaml' },
      },
    ],
  })
  expect(JSON.stringify(sharedExploration(exploration, '/home/al'))).not.toContain('/home/al')
  expect(sharedExploration(exploration, undefined)).toEqual(exploration)
})
