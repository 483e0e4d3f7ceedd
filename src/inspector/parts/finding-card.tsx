import type { ComponentChildren } from 'preact'
import type { ConfigurationCause, ExchangeLine, ReportedFinding } from '../../control/contract.ts'
import { hrefOf } from '../model/address.ts'
import { counted } from '../model/levels.ts'
import { CopyBox } from './copy-button.tsx'
import { Exchanges } from './exchanges.tsx'
import { Facts } from './facts.tsx'
import { onPaper } from './medium.ts'

/** A card: a title, a mark at its side, and what else there is to say. */
export function Card(props: {
  title: string
  id?: string
  mark: string
  tone: string
  children: ComponentChildren
  isChosen?: boolean
}) {
  const { title, id, mark, tone, isChosen = false, children } = props
  return (
    <article class={`card stack ${tone}${isChosen ? ' chosen' : ''}`} id={id}>
      <header class="head">
        <h3>{title}</h3>
        <span class={`pill ${tone}`}>{mark}</span>
      </header>
      {children}
    </article>
  )
}

/** A finding as its card and its line show it; in a certificate, less is known of it. */
export type ShownFinding = Pick<ReportedFinding, 'title' | 'outcome' | 'explanation'> &
  Partial<Omit<ReportedFinding, 'id' | 'impact' | 'exercise_with'>> & {
    id: string
    impact: string
    exercise_with?: string | undefined
  }

/** Id of the element of a finding. */
export function elementOf(id: string): string {
  return `finding-${id}`
}

/** A rule that was broken or that somebody has to look at, with everything that is needed to understand and mend it. */
export function FindingCard(props: { finding: ShownFinding; exchanges?: readonly ExchangeLine[]; isChosen?: boolean }) {
  const { finding, exchanges = [], isChosen = false } = props
  const { id, title, outcome, impact, explanation, exercise_with: command, request_ids = [] } = finding
  const isBroken = outcome === 'failed'
  return (
    <Card title={title} id={elementOf(id)} mark={impact} tone={isBroken ? 'bad' : 'warn'} isChosen={isChosen}>
      <p>{explanation}</p>
      <Facts
        facts={[
          ['Accepted by the baseline', finding.accepted],
          ['Expected', finding.expected, 'ok'],
          ['Came', finding.came, 'bad'],
          ['What it costs', isBroken ? finding.consequence : undefined],
          ['Change', isBroken ? finding.fix : undefined],
        ]}
      />
      <Exchanges lines={isBroken ? exchanges.filter(({ request_id }) => request_ids.includes(request_id)) : []} />
      {/* The page that it names comes with the package: nobody needs the network. */}
      <Facts
        facts={[
          [
            'Rule',
            <>
              {finding.rule}{' '}
              <small class="mute">
                <code>yield-sandbox findings {id}</code>, docs/findings.md#{id}
              </small>
            </>,
          ],
        ]}
      />
      {isBroken && command && <CopyBox label="See it again" text={command} />}
    </Card>
  )
}

/** A mistake in the set-up. */
export function CauseCard({ cause }: { cause: ConfigurationCause }) {
  const { id, title, count, expected, came, fix } = cause
  return (
    <Card title={title} id={`cause-${id}`} mark={`${counted(count, 'request')} refused`} tone="warn">
      <Facts
        facts={[
          ['Expected', expected, 'ok'],
          ['Came', came, 'bad'],
          ['Change', fix],
        ]}
      />
    </Card>
  )
}

/** A chapter that is closed on paper and on small screens. */
export function Fold({ title, count, children }: { title: string; count?: number; children: ComponentChildren }) {
  const open = !onPaper && matchMedia('(min-width:901px)').matches
  return (
    <details class="fold" open={open}>
      <summary>
        <h2>
          {title} {count !== undefined && <small class="mute">{count}</small>}
        </h2>
      </summary>
      {children}
    </details>
  )
}

/** Findings in a few lines each: those that were kept, and those that were not tested, with the command that tests them. */
export function FindingList({ findings, selected = '' }: { findings: readonly ShownFinding[]; selected?: string }) {
  return (
    <ul class="list">
      {findings.map(({ id, title, outcome, impact, required, explanation, exercise_with: command }) => {
        const isKept = outcome === 'passed'
        return (
          <li key={id} id={elementOf(id)} class={id === selected ? 'chosen' : ''}>
            <b class={isKept ? 'ok' : 'mute'}>{isKept ? '✓' : '–'}</b>
            <div>
              {onPaper ? title : <a href={hrefOf('verdict', id)}>{title}</a>}{' '}
              <small class="mute">
                {id}
                {impact && ` · ${impact}`}
              </small>
              {required && !isKept && <small class="warn"> required</small>}
              {(onPaper || id === selected) && <p class="mute">{explanation}</p>}
              {!isKept && command !== undefined && <CopyBox label={`Test ${id}`} text={command} />}
            </div>
          </li>
        )
      })}
    </ul>
  )
}
