import type { ExplorationDocument } from '../../explore/exploration-document.ts'
import { hrefOf, place } from '../model/address.ts'
import { type ExploredRun, matrixEntries } from '../model/exploration.ts'
import { movesIn, setKeys } from '../model/keys.ts'
import { isBad } from '../model/levels.ts'
import { matrixOf } from '../model/matrix.ts'
import { openedFile } from '../model/opened-file.ts'
import { CopyBox } from '../parts/copy-button.tsx'
import { FileChooser, FileGuard } from '../parts/file-chooser.tsx'
import { MatrixTable } from '../parts/matrix-table.tsx'
import { faultsOf, placesOf, RunReport } from '../parts/run-report.tsx'
import { Split } from '../parts/split.tsx'
import { ExplorationNumbers } from './explored.tsx'

/** An exploration: every fault at every operation, and the run that is chosen beside it. */
export function ExploreView() {
  const file = openedFile.value
  if (file?.kind === 'exploration') {
    return (
      <FileGuard>
        <Explored exploration={file.data} />
      </FileGuard>
    )
  }
  return (
    <section class="first-steps">
      <div class="stack">
        <h1>Every fault at every request</h1>
        <p class="mute">
          One run of your tests for each fault and each request, in a sandbox of its own. Drop the file that it writes
          here.
        </p>
        <CopyBox label="Explore" text="npx yield-sandbox explore --report explore.json -- npm test" />
        <FileChooser />
      </div>
    </section>
  )
}

function Explored({ exploration }: { exploration: ExplorationDocument }) {
  const { results, outcomes, seed, pace, remarks } = exploration
  const matrix = matrixOf(matrixEntries(exploration), Object.keys(outcomes))
  const cells = matrix.rows.flatMap((row) => row.cells.flatMap((cell) => (cell ? [cell] : [])))
  const selected = place.value.selected || cells[0]?.[0].id || ''
  const run = results.find(({ trial }) => trial.id === selected)
  const cell = cells.find((one) => one.some(({ id }) => id === selected)) ?? []
  const several = results.filter(({ trial, level }) => trial.harms.length > 1 && isBad(level))

  const now = cells.find((one) => one.some(({ id }) => id === selected))?.[0].id
  setKeys(movesIn(() => cells.map(([{ id }]) => id), now))
  const list = (
    <div class="stack pad">
      <h1>Every fault at every request</h1>
      <ExplorationNumbers exploration={exploration} />
      <p class="mute">{pace ?? `Seed ${seed}.`}</p>
      <MatrixTable matrix={matrix} names={outcomes} selected={selected} linkOf={(trial) => hrefOf('explore', trial)} />
      {several.length > 0 && <Links title="Several faults at once" runs={several} selected={selected} />}
      {remarks.map((remark) => (
        <p key={remark} class="mute">
          {remark}
        </p>
      ))}
      <FileChooser />
    </div>
  )
  return (
    <Split class="explored" names={['Faults', 'Run']} list={list}>
      {run ? (
        <RunReport run={run} names={outcomes} heading="h2">
          {cell.length > 1 && (
            <p class="row-of-buttons">
              {cell.map(({ id, operation }) => (
                <a key={id} class="chip" href={hrefOf('explore', id)} aria-current={id === selected || undefined}>
                  {placeIn(results, id) ?? operation}
                </a>
              ))}
            </p>
          )}
        </RunReport>
      ) : (
        <p class="mute">This run did not take place: there is nothing to show.</p>
      )}
    </Split>
  )
}

function placeIn(results: readonly ExploredRun[], id: string): string | undefined {
  const run = results.find(({ trial }) => trial.id === id)
  return run && placesOf(run.trial.harms)
}

function Links({ title, runs, selected }: { title: string; runs: readonly ExploredRun[]; selected: string }) {
  return (
    <section>
      <h2>{title}</h2>
      <ul class="plain">
        {runs.map(({ trial }) => (
          <li key={trial.id}>
            <a href={hrefOf('explore', trial.id)} aria-current={trial.id === selected || undefined}>
              {faultsOf(trial.harms)} at {placesOf(trial.harms)}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
