import type { AttemptStep } from '../../control/contract.ts'
import { Icon, type IconName } from './icon.tsx'

/** Steps between two others that only their time tells apart: they stand in a line of their own. */
const MINOR: readonly string[] = ['claimed', 'broadcast', 'settled']

/** A step as a lane shows it. */
export type LaneStep = Pick<AttemptStep, 'step' | 'tone' | 'title'> &
  Partial<Pick<AttemptStep, 'at' | 'detail' | 'tx_hash'>>

/** The steps of one attempt, from the request to its answer, side by side. */
export function Lane({ steps, linkOf }: { steps: readonly LaneStep[]; linkOf?(hash: string): string }) {
  const minor = steps.filter(({ step }) => MINOR.includes(step))
  return (
    <>
      <ol class="lane">
        {steps
          .filter(({ step }) => !MINOR.includes(step))
          .map((step, i) => (
            <Step key={i} step={step} linkOf={linkOf} />
          ))}
      </ol>
      {minor.length > 0 && (
        <p class="times mute">{minor.map(({ title, at }) => `${title} ${timeOf(at)}`).join(' · ')}</p>
      )}
    </>
  )
}

function Step({ step, linkOf }: { step: LaneStep; linkOf: ((hash: string) => string) | undefined }) {
  const { tone, title, at, detail, tx_hash } = step
  return (
    <li class={tone}>
      <b>
        <Icon name={(step.step === 'mined' ? 'block' : step.step) as IconName} /> {title}
      </b>
      {at && <time dateTime={at}>{timeOf(at)}</time>}
      {detail && <span>{detail}</span>}
      {tx_hash &&
        step.step === 'signed' &&
        (linkOf ? <a href={linkOf(tx_hash)}>{shortHash(tx_hash)}</a> : <code>{shortHash(tx_hash)}</code>)}
    </li>
  )
}

/** `17:54:10.716` of an ISO 8601 moment; empty for one that was not noted. */
function timeOf(at: string | null | undefined): string {
  return at?.slice(11, 23) ?? ''
}

/** `0x208a…6982` */
export function shortHash(hash: string): string {
  return hash.length > 14 ? `${hash.slice(0, 6)}…${hash.slice(-4)}` : hash
}

/** The beginning of an Idempotency-Key, enough to compare two of them by eye. */
export function shortKeyOf(key: string): string {
  return key.length > 12 ? `${key.slice(0, 8)}…` : key
}
