import { expect, test } from 'vitest'
import { LEVELS, OUTCOMES, type OutcomeId } from '../../src/oracle/outcome.ts'
import { codeOf, expectedOf, situationsOf } from './table/expected.ts'
import { EXPLORED } from './table/explorations.ts'
import { LIBRARIES, RIGHT, WRONG } from './table/index.ts'
import type { Row } from './table/row.ts'
import { BY_CHANCE, SCENARIOS } from './table/scenarios.ts'
import { HAZARDS, type Hazard, type Situation } from './table/situations.ts'

const INTRODUCTION = `# Clients, and what finds their mistakes

The clients by which the judge is judged: right ones, and wrong ones with one mistake each. What the judge must say of each in every situation is written
down before it is asked, in \`test/oracle/table\`. Made from that by \`npm run build:clients\`; do not edit it.

\`npm run test:oracle -- --times 20\` tries all of them in all situations, each time with another seed; \`npm run test:full\` tries each in the one that tells
most. Each has two deposits and a withdrawal to carry out, unless its line says otherwise.

The columns: nothing goes wrong; an answer is lost after the money has moved; a request is lost before anything is done; several attempts in a row go wrong. In each stands the worst that is
said, and the exit code of \`exec\`; several where it depends on what exactly goes wrong, and where.
`

/** Of one client, in the order of the columns. */
const COLUMNS: readonly [title: string, has: (situation: Situation) => boolean][] = [
  ['Nothing', (situation) => situation === 'quiet'],
  ['Answer lost', (situation) => groupOf(situation) === 'lost'],
  ['Request lost', (situation) => groupOf(situation) === 'never'],
  ['Several in a row', (situation) => hazardOf(situation)?.long === true],
]

function hazardOf(situation: Situation): Hazard | undefined {
  return typeof situation === 'object' && 'hazard' in situation ? HAZARDS[situation.hazard] : undefined
}

function groupOf(situation: Situation): string | undefined {
  const hazard = hazardOf(situation)
  return hazard?.long ? undefined : hazard?.group
}

const rank = (outcome: OutcomeId) => LEVELS.indexOf(OUTCOMES[outcome].level)

/** `told (0)` */
function worstOf(row: Row, situation: Situation): string {
  const { outcomes, code } = expectedOf(row, situation)
  const [worst] = [...outcomes].sort((a, b) => rank(a) - rank(b))
  return worst === undefined ? '' : `${OUTCOMES[worst].title} (${code ?? codeOf(outcomes)})`
}

function cells(row: Row): string[] {
  const situations = situationsOf(row)
  return COLUMNS.map(([, has]) => {
    const said = new Set(situations.filter(has).map((situation) => worstOf(row, situation)))
    return [...said].join('<br>') || '–'
  })
}

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const rows = [head, head.map(() => '---'), ...lines]
  return `${rows.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`
}

function clientsIn(rows: readonly Row[], last: string): string {
  const head = ['Client', 'What it does', ...COLUMNS.map(([title]) => title), last]
  return table(
    head,
    rows.map((row) => [row.name, row.does, ...cells(row), row.found ?? '']),
  )
}

function explorations(): string {
  const lines = EXPLORED.map(({ worker, operation, hazards, worst, because }) => {
    const title = worst === 'survived' ? worst : OUTCOMES[worst as OutcomeId].title
    return [worker, `${operation}: ${hazards.join(', ')}`, title, because]
  })
  return table(['Client', 'What goes wrong', 'Worst', 'Since'], lines)
}

function situations(): string {
  const hazards = Object.entries(HAZARDS).map(([name, { title, ...rest }]: [string, Hazard]) => [
    name,
    title,
    rest.long ? 'the first deposit' : 'each of the first two deposits, the first withdrawal',
  ])
  const scenarios = Object.keys(SCENARIOS).map((name) => `\`${name}\``)
  const chance = BY_CHANCE.map((name) => `\`${name}\``).join(', ')
  return `${table(['Name', 'What goes wrong', 'With'], hazards)}
And the scenarios ${scenarios.join(', ')}. What strikes in ${chance} is chance: a right client that comes to no failure above must come to none there.
`
}

test('docs/oracle-clients.md is the table', async () => {
  const unfound = WRONG.filter(({ found }) => found?.startsWith('By nothing'))
  const parts = [
    INTRODUCTION,
    `## Right clients of libraries and languages\n\nAll of them are told, whatever is lost.\n`,
    table(
      ['Client', 'What it is'],
      LIBRARIES.map(({ name, does }) => [name, does]),
    ),
    '## Right clients\n\nSome of them would be condemned by a hasty judge.\n',
    clientsIn(RIGHT, 'Remark'),
    '## Wrong clients\n',
    clientsIn(WRONG, 'Found by'),
    '## What nothing finds\n\nTraffic shows what a client could know, never what it believes:\n',
    `${unfound.map(({ name, does, found = '' }) => `- **${name}**: ${does} ${found}`).join('\n')}\n`,
    '## What explore sees\n\nIt has a run in which nothing goes wrong. The worst that comes of these workers, with the hazards given at one operation:\n',
    explorations(),
    '## Situations\n',
    situations(),
  ]
  await expect(parts.join('\n')).toMatchFileSnapshot('../../docs/oracle-clients.md')
})

test('a right client whose verdict is not passed has a remark, and so has every wrong one', () => {
  const remarkable = ({ right, ...row }: Row) =>
    !right || situationsOf({ right, ...row }).some((one) => codeOf(expectedOf({ right, ...row }, one).outcomes) > 0)
  expect([...RIGHT, ...WRONG].filter((row) => remarkable(row) && !row.found).map(({ name }) => name)).toEqual([])
})

test('there are forty behaviours and eight libraries and languages, at least', () => {
  expect(RIGHT.length + WRONG.length).toBeGreaterThanOrEqual(40)
  expect(LIBRARIES.length).toBeGreaterThanOrEqual(8)
})
