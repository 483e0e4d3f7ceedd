import { Sideways } from './sideways.tsx'

/** What became of a rule in one scenario. */
export type RuleOutcome = 'broken' | 'judge failed' | 'needs review' | 'kept' | 'not tested'

const SIGNS: Record<RuleOutcome, { sign: string; tone: string }> = {
  broken: { sign: '✗', tone: 'bad' },
  'judge failed': { sign: '!', tone: 'bad' },
  'needs review': { sign: '?', tone: 'warn' },
  kept: { sign: '✓', tone: 'ok' },
  'not tested': { sign: '·', tone: 'mute' },
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
  if (rows.length === 0) return null
  const worst = ({ outcomes }: (typeof rows)[number]) => WORST_FIRST.findIndex((one) => outcomes.includes(one))
  return (
    <section class="stack">
      <h2>
        Rules by scenario <small class="mute">{rows.length}</small>
      </h2>
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
                        <b role="img" class={SIGNS[outcome].tone} title={outcome} aria-label={outcome}>
                          {SIGNS[outcome].sign}
                        </b>
                      )}
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </Sideways>
      <p class="mute">{WORST_FIRST.map((outcome) => `${SIGNS[outcome].sign} ${outcome}`).join(', ')}</p>
    </section>
  )
}
