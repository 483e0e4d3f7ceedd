import { Chapter } from './chapter.tsx'
import { Table } from './table.tsx'

/** What became of a rule in one scenario. */
export type RuleOutcome = 'Broken' | 'Needs review' | 'Errored' | 'Kept' | 'Not tested'

const SIGNS: Record<RuleOutcome, readonly [sign: string, tone: string]> = {
  Broken: ['✗', 'bad'],
  Errored: ['!', 'bad'],
  'Needs review': ['?', 'warn'],
  Kept: ['✓', 'ok'],
  'Not tested': ['·', 'mute'],
}
const WORST_FIRST = Object.keys(SIGNS) as RuleOutcome[]

/** A table of rules and scenarios. */
export interface RulesTableProps {
  columns: readonly { name: string; href?: string }[]
  /** `title` where there is one beside the id. Outcomes in the order of the columns; undefined where nothing is known. */
  rows: readonly { id: string; title?: string; outcomes: readonly (RuleOutcome | undefined)[] }[]
}

/** Every rule in every scenario, the broken ones first. */
export function RulesTable({ columns, rows }: RulesTableProps) {
  const worst = ({ outcomes }: (typeof rows)[number]) => WORST_FIRST.findIndex((one) => outcomes.includes(one))
  return (
    <Chapter title="Rules by scenario" note={rows.length} shown={rows.length > 0}>
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
                    <b role="img" class={SIGNS[outcome][1]} title={outcome} aria-label={outcome}>
                      {SIGNS[outcome][0]}
                    </b>
                  ),
              ),
            ],
          }))}
      />
      <p class="mute">{WORST_FIRST.map((outcome) => `${SIGNS[outcome][0]} ${outcome}`).join(', ')}</p>
    </Chapter>
  )
}
