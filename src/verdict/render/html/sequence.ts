import type { ExchangeLine } from '../../report.ts'
import { durationInWords, shortKey } from '../report-parts.ts'
import { html, type Markup } from './page.ts'

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
  return html`<li class="${colour}"><div class="said"><span class="when">+${durationInWords(at_ms)}</span><b>${request}</b>${
    key !== null && html`<span class="key">key ${shortKey(key)}</span>`
  }</div>${request_body !== null && html`<details class="body"><summary>body</summary><pre tabindex="0"><code>${request_body}</code></pre></details>`}<div class="way"></div>
${fault !== null && html`<p class="fault">⚡ ${fault}</p>`}
<div class="way back${!arrived && ' lost'}"></div><div class="said answer">${
    tx_hash !== null && html`<span class="when">tx ${tx_hash.slice(0, 10)}…</span>`
  }<span class="when">after ${durationInWords(took_ms)}</span><b>${answer}</b></div><div class="said answer id">${request_id}${shown_by !== null && html`, the total that ${shown_by} showed`}</div></li>`
}

/** Of the sequence diagrams: two lifelines, and between them what was sent and what came back. */
export const SEQUENCE_STYLE = `
.seq{margin:1rem 0 0}
.lanes{display:flex;justify-content:space-between;font-size:.75rem;font-weight:700;letter-spacing:.05em;text-transform:uppercase;color:var(--soft)}
.seq ol{border:solid var(--line);border-width:0 2px;padding:.6rem 0 .2rem}
.seq li{padding:.2rem 0 .9rem}
.seq .way{position:relative;height:.75rem;color:var(--key,var(--soft))}
.seq .way::before{content:"";position:absolute;top:50%;left:0;right:0;border-top:2px solid}
.seq .way::after{content:"";position:absolute;top:50%;width:.5rem;height:.5rem;border:solid;border-width:2px 2px 0 0;right:2px;transform:translateY(-45%) rotate(45deg)}
.seq .back::after{right:auto;left:2px;transform:translateY(-45%) rotate(-135deg)}
.seq .lost{color:var(--fail)}
.seq .lost::before{border-top-style:dashed;left:50%}
.seq .lost::after{content:"✕";border:0;width:auto;height:auto;left:50%;transform:translate(-60%,-50%);font-size:1.05rem;font-weight:700;line-height:1;background:var(--card);padding:0 .15rem}
.seq .said{display:flex;flex-wrap:wrap;gap:.1rem .7rem;padding:0 .8rem;font-size:.85rem;align-items:baseline}
.seq .said b{font-weight:600}
.seq .answer{justify-content:flex-end;text-align:right}
.seq .when{color:var(--soft);font-variant-numeric:tabular-nums}
.seq .key{color:var(--key);font-weight:600}
.seq .key::before{content:"";display:inline-block;width:.6rem;height:.6rem;border-radius:50%;background:currentColor;margin-right:.3rem}
.seq .body{padding:0 .8rem;font-size:.8rem}.seq .body pre{white-space:pre-wrap;overflow-wrap:anywhere}
.seq .fault{margin:.15rem .8rem;font-size:.825rem;color:var(--fail)}
.k0{--key:var(--k0)}.k1{--key:var(--k1)}.k2{--key:var(--k2)}.k3{--key:var(--k3)}.k4{--key:var(--k4)}.k5{--key:var(--k5)}
`
