import { useState } from 'preact/hooks'
import type { ClockMove, Credentials, MintedToken, NamespaceSummary, ScenarioList } from '../../control/contract.ts'
import { go, namespace } from '../model/address.ts'
import { call, send } from '../model/api.ts'
import { clock } from '../model/live.ts'
import { useRead } from '../model/use-read.ts'
import { ApiCall, Card, useAction } from '../parts/action-card.tsx'
import { CopyBox, CopyButton } from '../parts/copy-button.tsx'
import { FaultForm } from './fault-form.tsx'

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
  const [said, act] = useAction()
  const [advance, setAdvance] = useState('8d')
  const frozen = clock.value?.frozen ?? false
  const move = (wish: ClockMove) =>
    act(async () => {
      const moved = await call<{ now: string; chains: { ok: boolean; reason?: string } }>('POST', 'clock', wish)
      return `It is ${moved.now} now.${moved.chains.ok ? '' : ` ${moved.chains.reason}`}`
    })
  return (
    <Card title="Clock" said={said}>
      <p>
        Business time {clock.value?.now ?? ''}
        {frozen && ', frozen'}
      </p>
      <form
        class="row-of-buttons"
        onSubmit={(event) => {
          event.preventDefault()
          move({ advance })
        }}
      >
        <input
          aria-label="Duration, such as 8d"
          size={6}
          value={advance}
          onInput={({ currentTarget }) => setAdvance(currentTarget.value)}
        />
        <button type="submit" class="button">
          Advance
        </button>
        <button type="button" class="button" onClick={() => move({ freeze: !frozen })}>
          {frozen ? 'Let it run' : 'Freeze'}
        </button>
      </form>
      <ApiCall method="POST" route="clock" body={{ advance }} />
      <ApiCall method="POST" route="clock" body={{ freeze: !frozen }} />
    </Card>
  )
}

function ScenarioCard() {
  const [said, act] = useAction()
  const { value, again } = useRead<ScenarioList>('scenarios', 'faults')
  const [name, setName] = useState('')
  const chosen = value?.scenarios.find((one) => one.name === name) ?? value?.scenarios[0]
  const current = value?.current
  return (
    <Card title="Scenarios" said={said}>
      {current && <p>Started last: {current.name}</p>}
      {chosen && (
        <>
          <label>
            Scenario
            <select value={chosen.name} onChange={({ currentTarget }) => setName(currentTarget.value)}>
              {value?.scenarios.map((one) => (
                <option key={one.name}>{one.name}</option>
              ))}
            </select>
          </label>
          <p class="mute">{chosen.description}</p>
          <div class="row-of-buttons">
            <button
              type="button"
              class="button"
              onClick={() =>
                act(async () => {
                  await call('POST', `scenarios/${chosen.name}/start`)
                  again()
                  return `${chosen.name} has begun.`
                })
              }
            >
              Start
            </button>
            <button
              type="button"
              class="button"
              onClick={() =>
                act(async () => {
                  await call('POST', 'scenarios/stop')
                  again()
                  return 'No scenario is at work.'
                })
              }
            >
              Stop
            </button>
          </div>
          <ApiCall method="POST" route={`scenarios/${chosen.name}/start`} />
          <ApiCall method="POST" route="scenarios/stop" />
        </>
      )}
    </Card>
  )
}

function NamespaceCard() {
  const [said, act] = useAction()
  const { value = [] } = useRead<NamespaceSummary[]>('/_sandbox/namespaces', 'namespaces', 'operations')
  const [name, setName] = useState('')
  const requests = value.find((one) => one.name === namespace.value)?.requests
  const create = () =>
    act(async () => {
      const made = await send<Credentials>('POST', '/_sandbox/namespaces', name === '' ? {} : { name })
      go({ selected: '', settings: { namespace: made.namespace } })
      return `${made.namespace} is made, and shown.`
    })
  const reset = () => {
    if (confirm(`Reset ${namespace.value} to its fixtures? ${requests ?? 'All'} requests are forgotten.`)) {
      act(async () => {
        await call('POST', 'reset')
        return `${namespace.value} is as at its start.`
      })
    }
  }
  const remove = () => {
    if (confirm(`Delete the namespace ${namespace.value} with everything in it?`)) {
      act(async () => {
        await send('DELETE', `/_sandbox/namespaces/${encodeURIComponent(namespace.value)}`)
        go({ selected: '', settings: {} })
        return 'It is deleted.'
      })
    }
  }
  return (
    <Card title="Namespaces" said={said}>
      <ul class="plain">
        {value.map((one) => (
          <li key={one.name}>
            <a href={`#control${one.name === 'default' ? '' : `?namespace=${encodeURIComponent(one.name)}`}`}>
              {one.name}
            </a>{' '}
            <span class="mute">
              {one.ready ? `${one.requests} requests` : one.reason}
              {(one.failed_findings ?? 0) > 0 && <b class="bad"> {one.failed_findings} rules broken</b>}
            </span>
          </li>
        ))}
      </ul>
      <form
        class="row-of-buttons"
        onSubmit={(event) => {
          event.preventDefault()
          create()
        }}
      >
        <input
          aria-label="Name of a new namespace"
          placeholder="pull-request-7"
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <button type="submit" class="button">
          Create
        </button>
      </form>
      <div class="row-of-buttons">
        <button type="button" class="button danger" onClick={reset}>
          Reset {namespace.value}
        </button>
        {namespace.value !== 'default' && (
          <button type="button" class="button danger" onClick={remove}>
            Delete {namespace.value}
          </button>
        )}
      </div>
      <ApiCall method="POST" route="/_sandbox/namespaces" body={name === '' ? {} : { name }} />
      <ApiCall method="POST" route="reset" />
      {namespace.value !== 'default' && (
        <ApiCall method="DELETE" route={`/_sandbox/namespaces/${encodeURIComponent(namespace.value)}`} />
      )}
    </Card>
  )
}

const LANGUAGES = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const

function CredentialsCard() {
  const [said, act] = useAction()
  const { value } = useRead<Credentials>('credentials?first_request=1')
  const [slug, setSlug] = useState('')
  const [language, setLanguage] = useState<keyof typeof LANGUAGES>('curl')
  const [token, setToken] = useState('')
  const tenant = value?.tenants.find((one) => one.slug === slug) ?? value?.tenants[0]
  const [user, setUser] = useState('')
  if (!value || !tenant) return null
  const external_id = user || tenant.end_users[0] || 'alice'
  const mint = (kind: 'idp_tokens' | 'user_tokens') =>
    act(async () => {
      const body = kind === 'user_tokens' ? { external_id } : {}
      const minted = await call<MintedToken>('POST', `tenants/${tenant.slug}/${kind}`, body)
      setToken(minted.token)
      return `It expires at ${minted.expires_at}.`
    })
  const lines: [string, string][] = [
    ['Base URL', value.base_url],
    ['Token URL', value.auth_url],
    ['Client id', tenant.client_id],
    ['Client secret', tenant.client_secret],
    ['Scope', value.scope],
    ['Issuer', tenant.issuer],
  ]
  return (
    <Card title="Credentials and tokens" said={said}>
      <label>
        Tenant
        <select value={tenant.slug} onChange={({ currentTarget }) => setSlug(currentTarget.value)}>
          {value.tenants.map((one) => (
            <option key={one.slug}>{one.slug}</option>
          ))}
        </select>
      </label>
      <dl class="facts">
        {lines.map(([title, text]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>
              <code>{text}</code> <CopyButton text={text} />
            </dd>
          </div>
        ))}
      </dl>
      {tenant.private_key_pem !== null && (
        <p>
          <CopyButton text={tenant.private_key_pem} label={`Copy the private key of ${tenant.kid}`} />
        </p>
      )}
      <div class="row-of-buttons">
        <input
          aria-label="End user of the token"
          value={external_id}
          onInput={({ currentTarget }) => setUser(currentTarget.value)}
        />
        <button type="button" class="button" onClick={() => mint('user_tokens')}>
          User token
        </button>
        <button type="button" class="button" onClick={() => mint('idp_tokens')}>
          Identity-provider token
        </button>
      </div>
      {token !== '' && <CopyBox label="Token" text={token} />}
      <ApiCall method="POST" route={`tenants/${tenant.slug}/user_tokens`} body={{ external_id }} />
      <ApiCall method="POST" route={`tenants/${tenant.slug}/idp_tokens`} body={{}} />
      {tenant.first_request && (
        <>
          <h2>First request</h2>
          <div class="row-of-buttons">
            {(Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]).map((one) => (
              <button
                key={one}
                type="button"
                class="chip"
                aria-pressed={one === language}
                onClick={() => setLanguage(one)}
              >
                {LANGUAGES[one]}
              </button>
            ))}
          </div>
          <CopyBox label="First request" text={tenant.first_request[language]} />
        </>
      )}
    </Card>
  )
}
