import type { AttemptStep } from '../../control/contract.ts'
import { Icon, type IconName } from './icon.tsx'

const SIGNS: Record<AttemptStep['step'], IconName> = {
  request: 'request',
  claimed: 'request',
  signed: 'signed',
  broadcast: 'signed',
  mined: 'block',
  settled: 'answered',
  answered: 'answered',
  refused: 'refused',
  replayed: 'replayed',
  lost: 'lost',
  waiting: 'waiting',
}

/** The steps of one attempt, from the request to its answer, side by side. */
export function Lane({ steps, linkOf }: { steps: readonly AttemptStep[]; linkOf?(hash: string): string }) {
  return (
    <ol class="lane">
      {steps.map((step, i) => (
        <li key={i} class={step.tone}>
          <b>
            <Icon name={SIGNS[step.step]} /> {step.title}
          </b>
          {step.at !== null && <time dateTime={step.at}>{step.at.slice(11, 23)}</time>}
          {step.detail !== null && <span>{step.detail}</span>}
          {step.tx_hash !== null &&
            (linkOf ? (
              <a href={linkOf(step.tx_hash)}>{shortHash(step.tx_hash)}</a>
            ) : (
              <code>{shortHash(step.tx_hash)}</code>
            ))}
        </li>
      ))}
    </ol>
  )
}

/** `0x208a…6982` */
export function shortHash(hash: string): string {
  return hash.length > 14 ? `${hash.slice(0, 6)}…${hash.slice(-4)}` : hash
}

/** The beginning of an Idempotency-Key, enough to compare two of them by eye. */
export function shortKeyOf(key: string): string {
  return key.length > 12 ? `${key.slice(0, 8)}…` : key
}
