import { useState } from 'preact/hooks'
import type { ClockState, Credentials, MintedToken, NamespaceSummary, ScenarioList } from '../../control/contract.ts'
import { goTo, hrefIn, namespace } from '../model/address.ts'
import { counted } from '../model/levels.ts'
import { clock } from '../model/live.ts'
import { useRead } from '../model/use-read.ts'
import { Actions, Card } from '../parts/action-card.tsx'
import { CopyBox, CopyButton } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Choice, Input } from '../parts/field.tsx'
import { FaultForm } from './fault-form.tsx'
import { credentialLines, FirstRequest } from './first-request.tsx'

/** Everything that can be done to the namespace, each with the call that does it. */
export function ControlView() {
  return (
    <div class="rooms pad">
      <ClockCard />
      <FaultForm />
      <ScenarioCard />
      <NamespaceCard />
      <CredentialsCard />
    </div>
  )
}

function ClockCard() {
  const [advance, setAdvance] = useState('8d')
  const { now = '', frozen = false } = clock.value ?? {}
  const done = (moved: ClockState & { chains: { ok: boolean; reason?: string } }) =>
    `It is ${moved.now} now.${moved.chains.ok ? '' : ` ${moved.chains.reason}`}`
  return (
    <Card title="Clock">
      <p>
        Business time {now}
        {frozen && ', frozen'}
      </p>
      <Actions
        actions={[
          { label: 'Advance', route: 'clock', body: { advance }, done },
          { label: frozen ? 'Let it run' : 'Freeze', route: 'clock', body: { freeze: !frozen }, done },
        ]}
      >
        <Input label="Duration, such as 8d" value={advance} set={setAdvance} />
      </Actions>
    </Card>
  )
}

function ScenarioCard() {
  const { value, again } = useRead<ScenarioList>('scenarios', ['faults'])
  const [name, setName] = useState('')
  const { scenarios = [], current } = value ?? {}
  const chosen = scenarios.find((one) => one.name === name) ?? scenarios[0]
  if (!chosen) return null
  const done = (words: string) => () => {
    again()
    return words
  }
  return (
    <Card title="Scenarios">
      {current && <p>Started last: {current.name}</p>}
      <Choice label="Scenario" value={chosen.name} set={setName} options={scenarios.map((one) => one.name)} />
      <p class="mute">{chosen.description}</p>
      <Actions
        actions={[
          { label: 'Start', route: `scenarios/${chosen.name}/start`, done: done(`${chosen.name} has begun.`) },
          { label: 'Stop', route: 'scenarios/stop', done: done('No scenario is at work.') },
        ]}
      />
    </Card>
  )
}

/** Shows another namespace. @returns what was done */
function shown(name: string, words: string): string {
  goTo('control', name)
  return words
}

function NamespaceCard() {
  const { value = [] } = useRead<NamespaceSummary[]>('/_sandbox/namespaces', ['namespaces', 'operations'])
  const [name, setName] = useState('')
  const own = namespace.value
  const requests = value.find((one) => one.name === own)?.requests ?? 'All'
  const removal = {
    ...{ label: `Delete ${own}`, method: 'DELETE', route: `/_sandbox/namespaces/${encodeURIComponent(own)}` },
    ask: `Delete the namespace ${own} with everything in it?`,
    done: () => shown('default', 'It is deleted.'),
  }
  const reset = {
    ...{ label: `Reset ${own}`, route: 'reset' },
    ask: `Reset ${own} to its fixtures? ${requests} requests are forgotten.`,
    done: () => `${own} is as at its start.`,
  }
  return (
    <Card title="Namespaces">
      <ul class="plain">
        {value.map((one) => (
          <li key={one.name}>
            <a href={hrefIn(one.name, 'control')}>{one.name}</a>{' '}
            <span class="mute">
              {one.ready ? counted(one.requests, 'request') : one.reason}
              {(one.failed_findings ?? 0) > 0 && <b class="bad"> {counted(one.failed_findings ?? 0, 'rule')} broken</b>}
            </span>
          </li>
        ))}
      </ul>
      <Actions
        actions={[
          {
            ...{ label: 'Create', route: '/_sandbox/namespaces', body: name === '' ? {} : { name } },
            done: (made: Credentials) => shown(made.namespace, `${made.namespace} is made, and shown.`),
          },
        ]}
      >
        <Input label="Name of a new namespace" placeholder="pull-request-7" value={name} set={setName} />
      </Actions>
      <Actions
        actions={(own === 'default' ? [reset] : [reset, removal]).map((one) => ({ ...one, class: 'danger' as const }))}
      />
    </Card>
  )
}

function CredentialsCard() {
  const { value } = useRead<Credentials>('credentials?first_request=1')
  const [slug, setSlug] = useState('')
  const [token, setToken] = useState('')
  const [user, setUser] = useState('')
  const tenants = value?.tenants ?? []
  const tenant = tenants.find((one) => one.slug === slug) ?? tenants[0]
  if (!value || !tenant) return null
  const external_id = user || tenant.end_users[0] || 'alice'
  const done = (minted: MintedToken) => {
    setToken(minted.token)
    return `It expires at ${minted.expires_at}.`
  }
  const mint = (label: string, kind: string, body: object) => ({
    ...{ label, route: `tenants/${tenant.slug}/${kind}`, body, done },
  })
  return (
    <Card title="Credentials and tokens">
      <Choice label="Tenant" value={tenant.slug} set={setSlug} options={tenants.map((one) => one.slug)} />
      <Facts
        class="facts"
        facts={credentialLines(value, tenant).map(([title, text]) => [
          title,
          <>
            <code>{text}</code> <CopyButton text={text} />
          </>,
        ])}
      />
      {tenant.private_key_pem !== null && (
        <p>
          <CopyButton text={tenant.private_key_pem} label={`Copy the private key of ${tenant.kid}`} />
        </p>
      )}
      <Actions
        actions={[
          mint('User token', 'user_tokens', { external_id }),
          mint('Identity-provider token', 'idp_tokens', {}),
        ]}
      >
        <Input label="End user of the token" value={external_id} set={setUser} />
      </Actions>
      {token !== '' && <CopyBox label="Token" text={token} />}
      {tenant.first_request && (
        <>
          <h2>First request</h2>
          <FirstRequest texts={tenant.first_request} />
        </>
      )}
    </Card>
  )
}
