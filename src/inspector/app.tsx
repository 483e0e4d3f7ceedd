import { OperationsView } from './views/operations-view.tsx'

// That one stands before all others: with its parts at the beginning, the script packs shorter.

import type { JSX } from 'preact'
import type { Headline, NamespaceSummary } from '../control/contract.ts'
import { goTo, hrefOf, namespace, place, VIEWS, type ViewName } from './model/address.ts'
import { listenToKeys, setKeys } from './model/keys.ts'
import { capital, counted } from './model/levels.ts'
import { dayOf } from './model/list-items.ts'
import { clock, connection, headline, type LinkState } from './model/live.ts'
import { openedFile, showFile } from './model/opened-file.ts'
import { readFile } from './model/read-file.ts'
import { needsToken } from './model/session.ts'
import { useRead } from './model/use-read.ts'
import { Facts } from './parts/facts.tsx'
import { FileGuard } from './parts/file-chooser.tsx'
import { Icon } from './parts/icon.tsx'
import { Counts, countsOf } from './parts/numbers.tsx'
import { ChainView } from './views/chain-view.tsx'
import { ControlView } from './views/control-view.tsx'
import { ExploreView } from './views/explore-view.tsx'
import { MoneyView } from './views/money-view.tsx'
import { SignIn } from './views/sign-in.tsx'
import { VerdictView } from './views/verdict-view.tsx'

const ROOMS: Record<ViewName, () => JSX.Element> = {
  operations: OperationsView,
  money: MoneyView,
  chain: ChainView,
  verdict: VerdictView,
  explore: ExploreView,
  control: ControlView,
}

/** The whole page: header, money line, one view, keys. */
export function App() {
  const { view } = place.value
  const Room = ROOMS[view]
  setKeys({})
  document.title = `${capital(view)} – yield-sandbox`
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
              {capital(one)}
              {one === 'verdict' && (headline.value?.contradicted ?? 0) > 0 && (
                <span class="count">{headline.value?.contradicted}</span>
              )}
            </a>
          ))}
        </nav>
        <NamespaceChoice />
        <Clock />
        <Corner />
        <button type="button" class="button small" aria-label="Keys" onClick={showHelp}>
          ?
        </button>
      </header>
      <MoneyLine />
      <main id="view" tabIndex={-1}>
        <FileGuard>
          <Room />
        </FileGuard>
      </main>
      <footer class="hints" aria-hidden="true">
        {KEYS.filter(([, , isHint]) => isHint).map(([key, words]) => (
          <span key={key}>
            <kbd>{key}</kbd> {words}
          </span>
        ))}
      </footer>
      <Help />
    </>
  )
}

function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('view')?.focus()
}

function NamespaceChoice() {
  const { value: all = [] } = useRead<NamespaceSummary[]>('/_sandbox/namespaces', ['namespaces'])
  const names = [...new Set(['default', ...all.map(({ name }) => name), namespace.value])]
  if (names.length === 1) return null
  return (
    <select
      aria-label="Namespace"
      value={namespace.value}
      onChange={({ currentTarget }) => goTo(undefined, currentTarget.value)}
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
        <span class="mute">
          {days > 0 ? '+' : '−'}
          {counted(Math.abs(days), 'day')}
        </span>
      )}
      {frozen && <span class="mute">frozen</span>}
    </a>
  )
}

const STATES: Record<LinkState, readonly [words: string, tone: string]> = {
  connecting: ['Connecting', 'mute'],
  live: ['Live', 'ok'],
  polling: ['Live, by asking', 'ok'],
  reconnecting: ['Reconnecting', 'warn'],
  gone: ['Namespace deleted', 'bad'],
}

function Corner() {
  const [words, tone] = STATES[connection.value]
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
            goTo()
          }}
        >
          Back to live
        </button>
      ) : (
        line && (
          <a class="counts" href={hrefOf('verdict')}>
            <Counts counts={countsOf(line)} />
          </a>
        )
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

/** From now on the keys work, and files that are dropped anywhere on the page are shown. */
export function listen(): void {
  listenToKeys(showHelp)
  addEventListener('dragover', (event) => event.preventDefault())
  addEventListener('drop', (event) => {
    event.preventDefault()
    const file = event.dataTransfer?.files[0]
    if (file) void readFile(file).then(showFile)
  })
}

/** Keys and what they do; those with a mark stand at the foot of the page as well. */
const KEYS: readonly (readonly [key: string, words: string, isHint?: true])[] = [
  ['j k', 'next and previous', true],
  ['Enter', 'into the detail', true],
  ['/', 'filter', true],
  ['Esc', 'back; again: no filter'],
  ['r', 'send again, with the same key'],
  ['c', 'copy as curl'],
  ['f', 'do this to the next one'],
  ['s', 'make a scenario'],
  [`1–${VIEWS.length}`, 'the views', true],
  ['?', 'all keys', true],
]

/** Shows the list of keys. */
function showHelp(): void {
  document.querySelector('dialog')?.showModal()
}

function Help() {
  return (
    <dialog aria-label="Keys">
      <h2>Keys</h2>
      <Facts class="keys" facts={KEYS.map(([key, words]) => [<kbd>{key}</kbd>, words])} />
      <p>
        All of this is in the <a href="/docs">API</a> as well.
      </p>
      <form method="dialog">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </dialog>
  )
}
