import type { ExplorationDocument } from '../../explore/exploration-document.ts'
import { hrefOf, place } from '../model/address.ts'
import { matrixEntries } from '../model/exploration.ts'
import { movesIn, setKeys } from '../model/keys.ts'
import { isBad } from '../model/levels.ts'
import { matrixOf } from '../model/matrix.ts'
import { openedFile } from '../model/opened-file.ts'
import { Chapter } from '../parts/chapter.tsx'
import { CopyBox } from '../parts/copy-button.tsx'
import { FileChooser } from '../parts/file-chooser.tsx'
import { MatrixTable } from '../parts/matrix-table.tsx'
import { faultsOf, placesOf, RunReport } from '../parts/run-report.tsx'
import { Split } from '../parts/split.tsx'
import { ExplorationNumbers } from './explored.tsx'

/** An exploration: every fault at every operation, and the run that is chosen beside it. */
export function ExploreView() {
  const file = openedFile.value
  if (file?.kind === 'exploration') return <Explored exploration={file.data} />
  return (
    <section class="first-steps">
      <div class="stack">
        <h1>Every fault at every request</h1>
        <p class="mute">Your tests run once for each fault and each request. Drop the file that this writes here.</p>
        <CopyBox label="Explore" text="npx yield-sandbox explore --report explore.json -- npm test" />
        <FileChooser />
      </div>
    </section>
  )
}

function Explored({ exploration }: { exploration: ExplorationDocument }) {
  const { results, outcomes, seed, pace, remarks } = exploration
  const matrix = matrixOf(matrixEntries(exploration), Object.keys(outcomes))
  const cells = matrix.rows.flatMap((row) => row.cells).filter((cell) => cell !== undefined)
  const selected = place.value.selected || cells[0]?.[0].id || ''
  const run = results.find(({ trial }) => trial.id === selected)
  const cell = cells.find((one) => one.some(({ id }) => id === selected))
  const several = results.filter(({ trial, level }) => trial.harms.length > 1 && isBad(level))

  const placeOf = (id: string) => results.flatMap(({ trial }) => (trial.id === id ? placesOf(trial.harms) : []))[0]
  setKeys(movesIn(() => cells.map(([{ id }]) => id), cell?.[0].id))
  const list = (
    <div class="stack pad">
      <h1>Every fault at every request</h1>
      <ExplorationNumbers exploration={exploration} />
      <p class="mute">{pace ?? `Seed ${seed}.`}</p>
      <MatrixTable matrix={matrix} names={outcomes} selected={selected} linkOf={(trial) => hrefOf('explore', trial)} />
      <Chapter title="Several faults at once" shown={several.length > 0}>
        <ul class="plain">
          {several.map(({ trial: { id, harms } }) => (
            <li key={id}>
              <a href={hrefOf('explore', id)} aria-current={id === selected || undefined}>
                {faultsOf(harms)} at {placesOf(harms)}
              </a>
            </li>
          ))}
        </ul>
      </Chapter>
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
          {cell && cell.length > 1 && (
            <p class="row-of-buttons">
              {cell.map(({ id, operation }) => (
                <a key={id} class="chip" href={hrefOf('explore', id)} aria-current={id === selected || undefined}>
                  {placeOf(id) ?? operation}
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
