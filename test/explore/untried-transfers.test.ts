import { describe, expect, test } from 'vitest'
import { codeWithUntried, explorationExitCode, notTriedInWords } from '../../src/explore/summary.ts'
import { resultOf, sampleTrials } from './render/sample-exploration.ts'

const trials = sampleTrials()
const at = (operation: string) => trials.filter(({ id }) => id.startsWith(operation))
const leaving = (left: typeof trials) => ({ untried: { trials: left, reason: '--max-runs 2' } })

describe('what was not tried', () => {
  test.each([
    ['transfers', 0, leaving(trials), 4, 0],
    ['reads alone', 0, leaving(at('list_pools')), 0, 0],
    ['nothing', 0, { untried: null }, 0, 0],
    ['transfers of a client that is wrong', 3, leaving(trials), 3, 3],
    ['transfers when nothing struck', 4, leaving(trials), 4, 0],
    ['nothing when nothing struck', 4, { untried: null }, 4, 0],
  ] as const)('%s: exit code %i becomes', (_, code, exploration, expected, allowed) => {
    expect(codeWithUntried(code, exploration, false)).toBe(expected)
    expect(codeWithUntried(code, exploration, true)).toBe(allowed)
  })

  test('makes the exit code of an exploration', () => {
    const results = [resultOf(trials[0]!, 'survived', { level: 'ok' })]
    expect(explorationExitCode({ results, ...leaving(at('deposit')) })).toBe(4)
    expect(explorationExitCode({ results, ...leaving(at('deposit')) }, true)).toBe(0)
    expect(explorationExitCode({ results, untried: null })).toBe(0)
  })

  test('is told with how many of it could have moved money', () => {
    const [first, second] = at('deposit')
    expect(notTriedInWords(leaving([first!, second!, at('list_pools')[0]!]))).toBe(
      '3 more, 2 of them at transfers (--max-runs 2)',
    )
    expect(notTriedInWords(leaving(at('list_pools').slice(0, 1)))).toBe(
      '1 more, none of them at transfers (--max-runs 2)',
    )
    expect(notTriedInWords({ untried: null })).toBeUndefined()
  })
})
