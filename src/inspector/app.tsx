import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Headline, NamespaceSummary } from '../control/contract.ts'
import { go, hrefOf, namespace, place, VIEWS, type ViewName } from './model/address.ts'
import { listenToKeys, setKeys } from './model/keys.ts'
import { dayOf } from './model/list-items.ts'
import { clock, connection, headline, type LinkState } from './model/live.ts'
import { openedFile, showFile } from './model/opened-file.ts'
import { needsToken } from './model/session.ts'
import { useRead } from './model/use-read.ts'
import { Icon, type IconName } from './parts/icon.tsx'
import { LoadedView } from './parts/loaded-view.tsx'
import { ChainView } from './views/chain-view.tsx'
import { ControlView } from './views/control-view.tsx'
import { MoneyView } from './views/money-view.tsx'
import { OperationsView } from './views/operations-view.tsx'
import { SignIn } from './views/sign-in.tsx'

const ROOMS: Record<ViewName, { title: string; component: () => JSX.Element }> = {
  operations: { title: 'Operations', component: OperationsView },
  money: { title: 'Money', component: MoneyView },
  chain: { title: 'Chain', component: ChainView },
  verdict: { title: 'Verdict', component: () => <LoadedView of={(views) => views.VerdictView} /> },
  explore: { title: 'Explore', component: () => <LoadedView of={(views) => views.ExploreView} /> },
  control: { title: 'Control', component: ControlView },
}

/** The whole page: header, money line, one view, keys. */
export function App() {
  const help = useRef<HTMLDialogElement>(null)
  const { view } = place.value
  const { title, component: Room } = ROOMS[view]
  setKeys({})

  useEffect(
    () =>
      listenToKeys({
        show: (next) => go({ view: next, selected: '', settings: keptSettings() }),
        help: () => help.current?.showModal(),
        back: () => {
          const { selected } = place.value
          if (selected !== '') go({ selected: '' })
          else go({ settings: keptSettings() })
        },
      }),
    [],
  )
  useEffect(listenToDrops, [])
  useEffect(() => {
    document.title = `${title} – yield-sandbox`
  }, [title])

  if (needsToken.value) return <SignIn />
  return (
    <>
      <header class="top">
        <a class="skip" href={hrefOf(view)} onClick={skip}>
          Skip to the view
        </a>
        <a class="brand" href={hrefOf('operations')}>
          <Icon name="brand" /> yield-sandbox
        </a>
        <nav aria-label="Views">
          {VIEWS.map((one) => (
            <a key={one} href={hrefOf(one)} aria-current={one === view ? 'page' : undefined}>
              {ROOMS[one].title}
              {one === 'verdict' && (headline.value?.contradicted ?? 0) > 0 && (
                <span class="count">{headline.value?.contradicted}</span>
              )}
            </a>
          ))}
        </nav>
        <NamespaceChoice />
        <Clock />
        <Corner />
        <button type="button" class="button small" aria-label="Keys" onClick={() => help.current?.showModal()}>
          ?
        </button>
      </header>
      <MoneyLine />
      <main id="view">
        <Room />
      </main>
      <footer class="hints" aria-hidden="true">
        <span>
          <kbd>j</kbd> <kbd>k</kbd> move
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>
          <kbd>/</kbd> filter
        </span>
        <span>
          <kbd>1</kbd>–<kbd>{VIEWS.length}</kbd> views
        </span>
        <span>
          <kbd>?</kbd> all keys
        </span>
      </footer>
      <Help dialog={help} />
    </>
  )
}

function keptSettings(): Record<string, string> {
  return namespace.value === 'default' ? {} : { namespace: namespace.value }
}

function skip(event: Event): void {
  event.preventDefault()
  const view = document.getElementById('view')
  view?.setAttribute('tabindex', '-1')
  view?.focus()
}

function NamespaceChoice() {
  const { value: all = [] } = useRead<NamespaceSummary[]>('/_sandbox/namespaces', 'namespaces')
  const names = [...new Set(['default', ...all.map(({ name }) => name), namespace.value])]
  if (names.length === 1) return null
  return (
    <select
      aria-label="Namespace"
      value={namespace.value}
      onChange={({ currentTarget: { value } }) =>
        go({ selected: '', settings: value === 'default' ? {} : { namespace: value } })
      }
    >
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}

const DAY_SECONDS = 24 * 60 * 60

function Clock() {
  if (!clock.value) return null
  const { now, frozen, offset_seconds } = clock.value
  const days = Math.round(offset_seconds / DAY_SECONDS)
  return (
    <a class="clock" href={hrefOf('control')} title={`Business time ${now}`}>
      <b>{dayOf(now)}</b>
      {days !== 0 && (
        <span class="mute">{`${days > 0 ? '+' : '−'}${Math.abs(days)} ${Math.abs(days) === 1 ? 'day' : 'days'}`}</span>
      )}
      {frozen && <span class="mute">frozen</span>}
    </a>
  )
}

const STATES: Record<LinkState, { words: string; tone: string }> = {
  connecting: { words: 'Connecting', tone: 'mute' },
  live: { words: 'Live', tone: 'ok' },
  polling: { words: 'Live, by asking', tone: 'ok' },
  reconnecting: { words: 'Reconnecting', tone: 'warn' },
  gone: { words: 'Namespace deleted', tone: 'bad' },
}

function Corner() {
  const { words, tone } = STATES[connection.value]
  return (
    <span class={`live ${tone}`} role="status">
      <i /> {words}
    </span>
  )
}

/** The answer to the first question, in every view: is anybody's money wrong? For a file, the same of it, and the way back. */
function MoneyLine() {
  const { view } = place.value
  const line = headline.value
  const file = view === 'verdict' || view === 'explore' ? openedFile.value : null
  const { tone, sentence } = file?.line ?? line ?? {}
  return (
    <section class={`headline ${tone ?? ''}`} aria-label="Money">
      {tone && (
        <span class="sign">
          <Icon name={tone === 'plain' ? 'ok' : tone} />
        </span>
      )}
      <p aria-live="polite">
        <b>{sentence}</b>{' '}
        {file ? file.kind !== 'none' && <span class="mute">{file.name}</span> : line && <Culprit line={line} />}
      </p>
      {file ? (
        <button
          type="button"
          class="button small"
          onClick={() => {
            openedFile.value = null
            go({ selected: '', settings: keptSettings() })
          }}
        >
          Back to live
        </button>
      ) : (
        line && <Counts line={line} />
      )}
    </section>
  )
}

/** The operation that the line speaks of. */
function Culprit({ line: { operation_number: number, operation_title: title, more } }: { line: Headline }) {
  return (
    <>
      {number !== null && (
        <a href={hrefOf('operations', String(number))}>
          {title ?? 'See'}, operation {number}
        </a>
      )}
      {more > 0 && <span class="mute"> and {more} more</span>}
    </>
  )
}

function Counts({ line: { proved, contradicted, unproved } }: { line: Headline }) {
  const counts: [IconName, string, string][] = [
    ['ok', 'ok', `${proved} rules kept`],
    ['bad', contradicted > 0 ? 'bad' : 'mute', `${contradicted} broken`],
    ['unknown', 'mute', `${unproved} not tested`],
  ]
  return (
    <a class="counts" href={hrefOf('verdict')}>
      {counts.map(([sign, tone, words]) => (
        <span key={sign} class={tone}>
          <Icon name={sign} /> {words}
        </span>
      ))}
    </a>
  )
}

/** Files dropped anywhere on the page are shown. @returns a function that ends it */
function listenToDrops(): () => void {
  const over = (event: DragEvent) => event.preventDefault()
  const drop = (event: DragEvent) => {
    event.preventDefault()
    const file = event.dataTransfer?.files[0]
    if (file) void import('./reports.ts').then(({ readFile }) => readFile(file).then(showFile))
  }
  addEventListener('dragover', over)
  addEventListener('drop', drop)
  return () => {
    removeEventListener('dragover', over)
    removeEventListener('drop', drop)
  }
}

const KEYS: readonly (readonly [string, string])[] = [
  ['j k', 'next and previous'],
  ['Enter', 'into the detail'],
  ['/', 'filter'],
  ['Esc', 'back; again: no filter'],
  ['r', 'send again, with the same key'],
  ['c', 'copy as curl'],
  ['f', 'do this to the next one'],
  ['s', 'make a scenario'],
  [`1–${VIEWS.length}`, 'the views'],
  ['?', 'this list'],
]

function Help({ dialog }: { dialog: { current: HTMLDialogElement | null } }) {
  return (
    <dialog ref={dialog} aria-label="Keys">
      <h2>Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <p>
        Everything here is also in the API: <a href="/docs">its description</a>.
      </p>
      <form method="dialog">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </dialog>
  )
}
