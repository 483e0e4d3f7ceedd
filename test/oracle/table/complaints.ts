import { OUTCOMES, type OutcomeId } from '../../../src/oracle/outcome.ts'
import { codeOf, expectedOf, situationsOf } from './expected.ts'
import type { Row } from './row.ts'
import type { Situation } from './situations.ts'

/** What there is to compare with the table. */
interface Judged {
  outcomes: readonly OutcomeId[]
  portfolios: readonly OutcomeId[]
  code: number
  broken: readonly string[]
  booksRight: boolean | undefined
  report: { summary: string }
}

/** `connection reset after broadcast, deposit 1` */
export function titleOf(situation: Situation): string {
  if (situation === 'quiet') return 'quiet'
  return 'scenario' in situation ? situation.scenario : `${situation.hazard}, ${situation.place}`
}

/** What is not as the table has it, in words. */
export function complaintsAbout(row: Row, situation: Situation, judged: Judged): string[] {
  const expected = expectedOf(row, situation)
  const without = (outcomes: readonly OutcomeId[]) => outcomes.filter((one) => !row.perhaps?.includes(one)).join(' ')
  const code = expected.code ?? codeOf(expected.outcomes)
  const [wanted, came] = [without(expected.outcomes), without(judged.outcomes)]
  const why = `${judged.report.summary} ${judged.broken.join(' ')}`.trim()
  return [
    ...(wanted === came ? [] : [`${came} instead of ${wanted} (${why})`]),
    ...(judged.code === code ? [] : [`exit code ${judged.code} instead of ${code} (${why})`]),
    ...judged.portfolios.map((outcome) => `a portfolio came to ${outcome}`),
    ...(areBooksWrong(row, situation, judged) ? ['the books of a right client are wrong'] : []),
  ]
}

/** What no right client may come to, whatever strikes, in words. */
export function failuresOf(judged: Judged): string[] {
  const bad = judged.outcomes.filter((outcome) => ['critical', 'serious'].includes(OUTCOMES[outcome].level))
  return [
    ...bad,
    ...judged.broken,
    ...(judged.code === 0 || judged.code === 4 ? [] : [`exit code ${judged.code} (${judged.report.summary})`]),
    ...(judged.booksRight === false ? ['the books of a right client are wrong'] : []),
  ]
}

/** Who was misled by a fault cannot know better. */
function areBooksWrong({ right, books }: Row, situation: Situation, { booksRight }: Judged): boolean {
  const isMisled = typeof situation === 'object' && 'hazard' in situation && situation.hazard === 'misled'
  return right && books !== false && !isMisled && booksRight === false
}

/** The first situation of a row in which it comes to something else than a right client; else the first in which anything goes wrong. */
export function sampleOf(row: Row): Situation[] {
  const situations = situationsOf(row)
  const others = situations.filter((situation) => situation !== 'quiet')
  const usual = (situation: Situation) => expectedOf({ name: '', right: true, does: '' }, situation).outcomes.join()
  const telling = others.find((situation) => expectedOf(row, situation).outcomes.join() !== usual(situation))
  const first = telling ?? others[0] ?? situations[0]
  return first === undefined ? [] : [first]
}
