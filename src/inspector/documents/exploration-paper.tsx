import type { ExplorationDocument, ExplorationIncident } from '../../explore/exploration-document.ts'
import { type ExploredRun, matrixEntries } from '../model/exploration.ts'
import { idInWords, isBad, isOpen, LEVELS } from '../model/levels.ts'
import { matrixOf } from '../model/matrix.ts'
import { Chapter } from '../parts/chapter.tsx'
import { CopyBox } from '../parts/copy-button.tsx'
import { MatrixTable, type OutcomeNames, signOf } from '../parts/matrix-table.tsx'
import { Numbers } from '../parts/numbers.tsx'
import { OtherSettings } from '../parts/other-settings.tsx'
import { faultsOf, placesOf, RunReport } from '../parts/run-report.tsx'
import { ExplorationNumbers } from '../views/explored.tsx'
import { Paper } from './paper.tsx'

/** An exploration: the matrix, what went wrong, what is to be known, what is open. */
export function ExplorationPaper({ exploration }: { exploration: ExplorationDocument }) {
  const { command, seed, created_at, summary, pace, remarks, outcomes, incidents, version } = exploration
  const runs = new Map(exploration.results.map((run) => [run.trial.id, run]))
  const of = ({ trials }: ExplorationIncident) => trials.flatMap((id) => runs.get(id) ?? [])
  const matrix = matrixOf(matrixEntries(exploration), Object.keys(outcomes))
  return (
    <Paper
      subject={`explore: ${command.join(' ')}, seed ${seed}`}
      at={created_at}
      summary={summary}
      head={
        <>
          {exploration.assumptions ? (
            <AllNumbers exploration={exploration} />
          ) : (
            <ExplorationNumbers exploration={exploration} />
          )}
          <p class="mute">{pace}</p>
        </>
      }
      foot={`Made by yield-sandbox ${version}. The command ran once for every place where something can go wrong; what counts is where the money ended up.`}
    >
      <Chapter title="Every fault at every place" shown={matrix.rows.length > 0}>
        <MatrixTable matrix={matrix} names={outcomes} />
      </Chapter>
      <Chapter title="Went wrong" note={incidents.wrong.length}>
        {incidents.wrong.map((incident) => (
          <Incident key={incident.trials[0]} incident={incident} runs={of(incident)} names={outcomes} />
        ))}
      </Chapter>
      <Chapter title="To be known" note={incidents.aside.length}>
        <ul class="list">
          {incidents.aside.map((incident) => (
            <Aside key={incident.trials[0]} incident={incident} runs={of(incident)} names={outcomes} />
          ))}
        </ul>
      </Chapter>
      <OtherSettings exploration={exploration} />
      <Chapter title="Left open" note={remarks.length}>
        <ul class="plain">
          {remarks.map((remark) => (
            <li key={remark}>{remark}</li>
          ))}
        </ul>
      </Chapter>
    </Paper>
  )
}

/** Outcomes of runs that show nothing. */
const SILENT: readonly string[] = ['not_exercised', 'errored', 'untried', 'not_met']

/** The verdict, and how many runs came out well, with faults and under other settings. */
function AllNumbers({ exploration }: { exploration: ExplorationDocument }) {
  const { verdict, results, untried, assumptions = [] } = exploration
  const all = [...results, ...assumptions]
  const bad = all.filter(({ level, outcome }) => isBad(level) || outcome === 'breaks').length
  const silent = all.filter(({ outcome }) => SILENT.includes(outcome)).length
  const open = all.filter(({ level, outcome }) => isOpen(level) && ![...SILENT, 'breaks'].includes(outcome)).length
  return (
    <Numbers
      verdict={verdict}
      counts={[
        [bad, 'went wrong', 'bad'],
        [open, 'need review', 'warn'],
        [all.length - bad - silent - open, 'came out well', 'ok'],
        [silent + (untried?.trials.length ?? 0), 'not tried or never met', 'mute'],
      ]}
    />
  )
}

interface IncidentProps {
  incident: ExplorationIncident
  runs: readonly ExploredRun[]
  names: OutcomeNames
}

/** Runs with the same result: the first one in full, and the commands of the others. */
function Incident({ incident: { also, findings }, runs, names }: IncidentProps) {
  const [first, ...others] = runs
  if (!first) return null
  const all = runs.flatMap((run) => run.findings)
  const explained = { ...first, findings: findings.flatMap((id) => all.find((one) => one.id === id) ?? []) }
  return (
    <article class={`card stack ${LEVELS[first.level].tone}`}>
      <RunReport run={explained} names={names} />
      {others.length > 0 && (
        <details>
          <summary>
            Also {also ?? 'elsewhere'}: {others.length === 1 ? 'its command' : `their ${others.length} commands`}
          </summary>
          {others.map(({ trial, repeat }) => (
            <div key={trial.id}>
              <p class="mute">{trial.id}</p>
              <CopyBox label={trial.id} text={repeat} />
            </div>
          ))}
        </details>
      )}
    </article>
  )
}

function Aside({ incident: { also }, runs: [first], names }: IncidentProps) {
  if (!first) return null
  const { outcome, level, trial, sentences } = first
  return (
    <li>
      <b class={LEVELS[level].tone}>{signOf(first)}</b>
      <div>
        {names[outcome]?.name ?? idInWords(outcome)}: {faultsOf(trial.harms)} at {placesOf(trial.harms)}
        <p class="mute">{sentences.join('; ')}</p>
        {also !== undefined && <p class="mute">Also {also}.</p>}
      </div>
    </li>
  )
}
