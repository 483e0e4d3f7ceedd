import { Chapter } from './chapter.tsx'
import { Table } from './table.tsx'

/** What can become of a rule, in the order in which it is shown: in words, as an outcome of findings, its sign, its tone. */
export const RULE_OUTCOMES = [
  ['Broken', 'failed', '✗', 'bad'],
  ['Needs review', 'needs_review', '?', 'warn'],
  ['Errored', 'errored', '!', 'bad'],
  ['Kept', 'passed', '✓', 'ok'],
  ['Not tested', 'not_exercised', '·', 'mute'],
] as const

/** What became of a rule in one scenario. */
export type RuleOutcome = (typeof RULE_OUTCOMES)[number]

/** A table of rules and scenarios. */
export interface RulesTableProps {
  columns: readonly { name: string; href?: string }[]
  /** `title` where there is one beside the id. Outcomes in the order of the columns; undefined where nothing is known. */
  rows: readonly { id: string; title?: string; outcomes: readonly (RuleOutcome | undefined)[] }[]
}

/** Every rule in every scenario, the broken ones first. */
export function RulesTable({ columns, rows }: RulesTableProps) {
  const worst = ({ outcomes }: (typeof rows)[number]) => RULE_OUTCOMES.findIndex((one) => outcomes.includes(one))
  return (
    <Chapter title="Rules by scenario" note={rows.length}>
      <Table
        label="Rules by scenario"
        class="rules"
        hasRowHeads
        head={[
          '',
          ...columns.map(({ name, href }) => (href === undefined ? <span>{name}</span> : <a href={href}>{name}</a>)),
        ]}
        rows={[...rows]
          .sort((a, b) => worst(a) - worst(b))
          .map(({ id, title, outcomes }) => ({
            key: id,
            cells: [
              <>
                {title} <small>{id}</small>
              </>,
              ...outcomes.map(
                (outcome) =>
                  outcome && (
                    <b role="img" class={outcome[3]} title={outcome[0]} aria-label={outcome[0]}>
                      {outcome[2]}
                    </b>
                  ),
              ),
            ],
          }))}
      />
      <p class="mute">{RULE_OUTCOMES.map(([words, , sign]) => `${sign} ${words}`).join(', ')}</p>
    </Chapter>
  )
}
