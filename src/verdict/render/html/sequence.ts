import type { ExchangeLine } from '../../report.ts'
import { inWords, shortKey } from '../exchanges-of.ts'
import { html, type Markup } from './markup.ts'

/** Colours that keys are told apart by; a seventh key has the first one's. */
const COLOURS = 6
/** Most exchanges of one diagram. */
const SHOWN = 8

/** Exchanges as a sequence diagram: the client on the left, the sandbox on the right; the same key has the same colour. */
export function sequence(exchanges: readonly ExchangeLine[]): Markup | undefined {
  if (exchanges.length === 0) return undefined
  const keys = [...new Set(exchanges.flatMap(({ idempotency_key }) => idempotency_key ?? []))]
  const left = exchanges.length - SHOWN
  return html`<figure class="seq" aria-label="What the client sent and what came back">
<div class="lanes" aria-hidden="true"><span>client</span><span>sandbox</span></div>
<ol>${exchanges.slice(0, SHOWN).map((line) => exchange(line, keys))}</ol>
${left > 0 && html`<figcaption class="id">and ${left} more</figcaption>`}</figure>`
}

function exchange(line: ExchangeLine, keys: readonly string[]): Markup {
  const {
    request_id,
    request,
    request_body,
    answer,
    arrived,
    idempotency_key: key,
    fault,
    at_ms,
    took_ms,
    tx_hash,
    shown_by,
  } = line
  const colour = key === null ? '' : `k${keys.indexOf(key) % COLOURS}`
  return html`<li class="${colour}"><div class="said"><span class="when">+${inWords(at_ms)}</span><b>${request}</b>${
    key !== null && html`<span class="key">key ${shortKey(key)}</span>`
  }</div>${request_body !== null && html`<details class="body"><summary>body</summary><pre tabindex="0"><code>${request_body}</code></pre></details>`}<div class="way"></div>
${fault !== null && html`<p class="fault">⚡ ${fault}</p>`}
<div class="way back${!arrived && ' lost'}"></div><div class="said answer">${
    tx_hash !== null && html`<span class="when">tx ${tx_hash.slice(0, 10)}…</span>`
  }<span class="when">after ${inWords(took_ms)}</span><b>${answer}</b></div><div class="said answer id">${request_id}${shown_by !== null && html`, the total that ${shown_by} showed`}</div></li>`
}
