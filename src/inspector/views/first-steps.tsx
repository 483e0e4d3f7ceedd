import type { Credentials } from '../../control/contract.ts'
import { hrefOf } from '../model/address.ts'
import { useRead } from '../model/use-read.ts'
import { CopyBox } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { credentialLines, FirstRequest } from './first-request.tsx'

const LEGEND: readonly (readonly [IconName, string])[] = [
  ['request', 'a request'],
  ['block', 'its block on the chain'],
  ['lost', 'an answer that was lost'],
  ['retry', 'tried again'],
  ['replayed', 'the kept answer of the same key'],
  ['answered', 'answered'],
  ['refused', 'refused: nothing moved'],
  ['reverted', 'reverted: nothing moved'],
]

/** The empty page: the first steps, and the meaning of the signs. */
export function FirstSteps() {
  const { value } = useRead<Credentials>('credentials?first_request=1')
  const tenant = value?.tenants[0]
  const first = tenant?.first_request
  return (
    <div class="first-steps">
      <section class="stack">
        <h1>No request yet</h1>
        <p class="mute">This page shows what your client does to whose money, as soon as its first request is here.</p>
        <ol class="stack">
          <li>
            <h2>Send a first deposit</h2>
            {first ? (
              <FirstRequest texts={first} />
            ) : (
              <p class="mute">
                {value && 'This tenant cannot make one: it has no pool, no access, or no private key here.'}
              </p>
            )}
          </li>
          <li>
            <h2>Point your client here</h2>
            {value && tenant && (
              <CopyBox
                label="Credentials"
                text={credentialLines(value, tenant)
                  .map(([name, text]) => `${name.padEnd(15)}${text}`)
                  .join('\n')}
              />
            )}
          </li>
          <li>
            <h2>Drop an answer</h2>
            <p>
              In <a href={hrefOf('control')}>Control</a>, let the next deposit lose its answer, and see here if your
              client pays twice.
            </p>
          </li>
        </ol>
        <p class="wait">
          <i /> Waiting for the first request
        </p>
      </section>
      <aside class="card">
        <h2>Signs</h2>
        <Facts class="legend" facts={LEGEND.map(([name, words]) => [<Icon name={name} />, words])} />
      </aside>
    </div>
  )
}
