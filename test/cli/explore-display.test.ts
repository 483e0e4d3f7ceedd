import { Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { ExploreDisplay, LiveLines } from '../../src/cli/explore-display.ts'
import { resultOf, sampleTrials } from '../explore/render/sample-exploration.ts'
import { Terminal } from './terminal.ts'

const TRIALS = sampleTrials()
const WAITING = TRIALS.filter(({ harms: [harm] }) => harm!.hazard.urgency === 'wait').length

/** A stream that keeps what is written. */
function log() {
  const written: string[] = []
  const screen = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk))
      done()
    },
  })
  return { screen, written }
}

/** A clock that stands where it is put. */
function clockAt(seconds = 0) {
  return { seconds, wallNow: () => clock.seconds * 1000 }
}
const clock = clockAt()

describe('in a log', () => {
  function display(known = 0) {
    clock.seconds = 0
    const { screen, written } = log()
    const shown = new ExploreDisplay({ screen, clock, live: false })
    shown.planned(
      TRIALS,
      TRIALS.slice(0, known).map((trial) => resultOf(trial, 'survived')),
    )
    return { shown, written }
  }

  test('there is a line for each bad result, and one every tenth of the way', () => {
    const { shown, written } = display()
    expect(written).toEqual([`yield-sandbox: 3 places where something can go wrong, ${TRIALS.length} runs\n`])
    for (const trial of TRIALS) shown.tried(resultOf(trial, trial === TRIALS[3] ? 'hung' : 'survived'))
    expect(written.filter((line) => line.includes('∞'))).toEqual([
      `yield-sandbox: ∞ ${TRIALS[3]!.id}: hung; the same money\n`,
    ])
    expect(written.filter((line) => / of \d+ runs, /.test(line))).toHaveLength(10)
    expect(written.at(-1)).toBe(`yield-sandbox: ${TRIALS.length} of ${TRIALS.length} runs, 1 bad; 0.0 s\n`)
    expect(written.join('')).not.toContain('\u001b')
  })

  test('the time that is left is that of runs which do not wait, by those that were not known', () => {
    const { shown, written } = display(10)
    clock.seconds = 4
    for (const trial of TRIALS.slice(10, 20)) shown.tried(resultOf(trial, 'survived'))
    const [, done] = /(\d+) of/.exec(written.at(-1)!) ?? []
    const left = (4 / (Number(done) - 10)) * (TRIALS.length - Number(done) - WAITING)
    expect(written[0]).toMatch(/, 10 of them known\n$/)
    expect(written.at(-1)).toBe(
      `yield-sandbox: ${done} of ${TRIALS.length} runs, 0 bad; 4.0 s, about ${left.toFixed(1)} s left, ` +
        `then ${WAITING} runs that wait for an answer\n`,
    )
  })

  test('obeys nothing that a name says', () => {
    const { shown, written } = display()
    shown.tried(resultOf(TRIALS[0]!, 'paid_twice', { sentences: ['\u001b[2Jgone\nagain'] }))
    expect(written.at(-1)).toContain('\\u{1b}[2Jgone again\n')
  })
})

describe('on a terminal', () => {
  function display(columns = 100, rows = 90) {
    clock.seconds = 0
    const terminal = new Terminal(columns, rows)
    const shown = new ExploreDisplay({ screen: terminal, clock, live: true })
    shown.planned(TRIALS, [])
    return { shown, terminal }
  }

  test('the matrix stands there from the beginning, and fills where it stands', () => {
    const { shown, terminal } = display()
    const before = terminal.lines
    expect(before.find((line) => line.startsWith('reverted'))).toMatch(/·2$/)
    for (const trial of TRIALS.filter(({ id }) => id.endsWith(' revert'))) shown.tried(resultOf(trial, 'paid_twice'))
    expect(terminal.lines.find((line) => line.startsWith('reverted'))).toMatch(/✗2$/)
    expect(terminal.lines.filter((line) => line.startsWith('reverted'))).toHaveLength(1)
    expect(terminal.lines.at(-1)).toMatch(/^2 of \d+ runs, 2 bad; 0\.0 s/)
  })

  test('at the end there is nothing left of it, and the cursor is back', () => {
    const { shown, terminal } = display()
    for (const trial of TRIALS) shown.tried(resultOf(trial, 'survived'))
    expect(terminal.cursor).toBe(false)
    shown.end()
    shown.end()
    expect(terminal.lines).toEqual([expect.stringMatching(/^yield-sandbox: 3 places/)])
    expect(terminal.cursor).toBe(true)
  })

  test.each([
    [100, 10],
    [30, 60],
  ])('one of %i columns and %i rows has room for one line', (columns, rows) => {
    const { shown, terminal } = display(columns, rows)
    shown.tried(resultOf(TRIALS[0]!, 'survived'))
    expect(terminal.lines.at(-1)).toMatch(/^1 of \d+ runs, 0 bad/)
    expect(terminal.lines.join('\n')).not.toContain('reverted')
    shown.end()
    expect(terminal.lines.join('\n')).not.toContain('1 of')
  })

  test('one that was made narrower has broken its lines: all of them are taken away', () => {
    const terminal = new Terminal(100, 60)
    terminal.write('before\n')
    const lines = new LiveLines(terminal)
    lines.show(['x'.repeat(90), 'short', '', 'x'.repeat(50)])
    terminal.resize(40)
    lines.show(['new'])
    expect(terminal.lines).toEqual(['before', 'new'])
  })
})
