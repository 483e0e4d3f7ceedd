import type { ComponentChildren } from 'preact'
import type { ExploredRun, PlannedHarm } from '../model/exploration.ts'
import { idInWords, LEVELS } from '../model/levels.ts'
import { CopyBox } from './copy-button.tsx'
import { Exchanges } from './exchanges.tsx'
import { Facts } from './facts.tsx'
import { type OutcomeNames, signOf } from './matrix-table.tsx'
import { MoneyBar } from './money-bar.tsx'

/** A run of an exploration. `children` stand below its title. */
export interface RunReportProps {
  run: ExploredRun
  names: OutcomeNames
  /** Level of its heading. */
  heading?: 'h2' | 'h3'
  children?: ComponentChildren
}

/** What one run came to: the sentence, the money, the requests, the rule and what to change, and the command that shows it again. */
export function RunReport({ run, names, heading: Heading = 'h3', children }: RunReportProps) {
  const { trial, outcome, level, sentences, findings, money, exchanges, repeat, smallest } = run
  const { tone } = LEVELS[level]
  const [first, ...others] = sentences
  const name = names[outcome]?.name ?? idInWords(outcome)
  return (
    <>
      <header class="head">
        <Heading>
          {faultsOf(trial.harms)} <span class="mute">at {placesOf(trial.harms)}</span>
        </Heading>
        <span class={`pill ${tone}`}>
          {signOf(run)} {name}
          {tone === 'bad' && run.end === '0' && ', no test noticed'}
        </span>
      </header>
      {children}
      <p class={`say ${tone}`}>{first}</p>
      {others.length > 0 && (
        <ul class="plain">
          {others.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {money
        ?.filter(({ expected_minor, is_minor }) => expected_minor !== is_minor)
        .map((one) => (
          <MoneyBar
            key={`${one.tenant}/${one.external_id}/${one.pool_id}`}
            {...one}
            before={one.before_minor}
            expected={one.expected_minor}
            after={one.is_minor}
            note={`${one.external_id} (${one.tenant}), ${one.pool_id}, compared with the run without a fault.`}
          />
        ))}
      <Exchanges lines={exchanges ?? []} />
      {findings.map(({ id, title, explanation, fix }) => (
        <Facts
          key={id}
          facts={[
            [
              'Why',
              <>
                {title} <small class="mute">{id}</small>
                <p class="mute">{explanation}</p>
              </>,
            ],
            ['Change', fix],
          ]}
        />
      ))}
      {smallest && smallest.harms.length > 0 && (
        <p class="mute">
          {smallest.minimal ? 'These faults suffice' : 'Fewer faults suffice'}:{' '}
          {smallest.harms.map((harm) => `${faultsOf([harm])} at ${placesOf([harm])}`).join(', ')} ({smallest.file})
        </p>
      )}
      <CopyBox label="See it again" text={repeat} />
    </>
  )
}

/** "reset after broadcast, then reverted" */
export function faultsOf(harms: readonly PlannedHarm[]): string {
  return harms.map(({ hazard }) => hazard.title).join(', then ')
}

/** "deposit 1 of alice" */
export function placesOf(harms: readonly PlannedHarm[]): string {
  const whose = ({ external_id, end_user }: PlannedHarm['position']) =>
    external_id !== null ? ` of ${external_id}` : end_user !== null ? ` of end user ${end_user}` : ''
  return harms
    .map(({ position }) => `${idInWords(position.operation)} ${position.ordinal}${whose(position)}`)
    .join(' and ')
}
