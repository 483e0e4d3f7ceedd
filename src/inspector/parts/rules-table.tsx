import { Chapter } from './chapter.tsx'
import { Sideways } from './sideways.tsx'

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
      <Sideways label="Rules by scenario">
        <table class="rules">
          <thead>
            <tr>
              <td />
              {columns.map(({ name, href }) => (
                <th key={name} scope="col">
                  {href === undefined ? <span>{name}</span> : <a href={href}>{name}</a>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...rows]
              .sort((a, b) => worst(a) - worst(b))
              .map(({ id, title, outcomes }) => (
                <tr key={id}>
                  <th scope="row">
                    {title} <small>{id}</small>
                  </th>
                  {outcomes.map((outcome, i) => (
                    <td key={i}>
                      {outcome && (
                        <b role="img" class={SIGNS[outcome][1]} title={outcome} aria-label={outcome}>
                          {SIGNS[outcome][0]}
                        </b>
                      )}
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </Sideways>
      <p class="mute">{WORST_FIRST.map((outcome) => `${SIGNS[outcome][0]} ${outcome}`).join(', ')}</p>
    </Chapter>
  )
}
