import { type OperationOutcome, OUTCOMES } from '../../oracle/outcome.ts'
import { findingNumbers, html, type Markup, page, STYLE, verdictHead } from '../../render/html-page.ts'
import {
  type ConfigurationCause,
  type Covered,
  type ExchangeLine,
  mergedReport,
  type Report,
  type ReportedFinding,
} from '../report.ts'
import {
  byOutcome,
  durationInWords,
  exchangesOf,
  LEVEL_SIGNS,
  RULE_SIGNS,
  reportName,
  rulesTable,
  shortKey,
  shownOperations,
} from './report-parts.ts'

/** Renders a self-contained page: no network, no script. */
export function renderHtml(reports: readonly Report[]): string {
  const [only, ...others] = reports
  const single = others.length === 0 ? only : undefined
  const run = (report: Report, i: number) =>
    html`<div class="run" id="run-${i}"><p class="id">${report.scenario ?? 'no scenario'} · seed ${report.seed}</p>${head(report, 'h2')}${body(report)}</div>`
  return page({
    title: single ? single.summary : 'yield-sandbox report',
    style: STYLE + SEQUENCE_STYLE,
    header: html`${brand(reports)}${single ? head(single, 'h1') : overview(reports)}`,
    main: single ? body(single) : html`${reports.map(run)}`,
    footer: html`Made by yield-sandbox ${only?.version}. Kept: the situation arose, and the client did right. Broken: the exchanges show that it did wrong. Not tested: the situation never arose, or traffic alone cannot tell.`,
  })
}

function body(report: Report): Markup {
  const { failed, needs_review, errored, passed, not_exercised } = byOutcome(report)
  return html`${[
    operations(report),
    setUp(report.configuration),
    broken(report, failed),
    open('Needs review', needs_review),
    open('Errored', errored),
    kept(passed),
    notTested(not_exercised),
    coverage(report),
  ]}`
}

/** Mistakes in the set-up, a card each: expected value, actual value, fix. */
export function setUp(causes: readonly ConfigurationCause[]): Markup | undefined {
  if (causes.length === 0) return undefined
  const article = ({ title, expected, came, fix, count, id }: ConfigurationCause) =>
    html`<article class="setup"><h3>${title}</h3><p class="id">${id} · ${count === 1 ? '1 request' : `${count} requests`} refused</p>
${facts([half('Expected', expected, 'passed'), half('Came', came, 'failed'), fact('Fix', fix)])}</article>`
  return html`<section><h2>Set-up <small>first: it explains what was refused</small></h2>${causes.map(article)}</section>`
}

/** Rules that were broken, with everything needed to understand and fix them. */
export function broken(report: Report, findings: readonly ReportedFinding[]): Markup | undefined {
  if (findings.length === 0) return undefined
  return html`<section><h2>Broken <small>${findings.length}</small></h2>${findings.map((finding) => failure(report, finding))}</section>`
}

function failure(report: Report, finding: ReportedFinding): Markup {
  const {
    id,
    title,
    impact,
    accepted,
    explanation,
    consequence,
    expected,
    came,
    rule,
    fix,
    exercise_with,
    request_ids,
  } = finding
  return html`<article class="failed"><h3>${title}</h3>
<p><span class="tag">${impact}</span><span class="id">${id}</span></p>
<p>${explanation}</p>
${sequence(exchangesOf(report, request_ids))}
${facts([
  fact('Accepted by the baseline', accepted),
  half('Expected', expected, 'passed'),
  half('Came', came, 'failed'),
  fact('What it costs', consequence),
  fact('Fix', fix),
  ruleOf(id, rule),
  exercise_with !== undefined &&
    html`<div><dt>See it again</dt><dd><pre tabindex="0"><code>${exercise_with}</code></pre></dd></div>`,
])}</article>`
}

/** Findings that traffic cannot decide, and judges that failed. */
export function open(title: string, findings: readonly ReportedFinding[]): Markup | undefined {
  if (findings.length === 0) return undefined
  const article = ({ id, title: right, outcome, impact, explanation, rule }: ReportedFinding) =>
    html`<article class="${outcome}"><h3>${right}</h3><p><span class="tag">${impact}</span><span class="id">${id}</span></p><p>${explanation}</p>
${facts([ruleOf(id, rule)])}</article>`
  return html`<section><h2>${title} <small>${findings.length}</small></h2>${findings.map(article)}</section>`
}

/** Rules that were kept. */
export function kept(findings: readonly ReportedFinding[]): Markup | undefined {
  if (findings.length === 0) return undefined
  const item = ({ id, title, explanation }: ReportedFinding) =>
    html`<li><b>${title}</b> <span class="id">${id}</span><p>${explanation}</p></li>`
  return fold('Kept', findings.length, html`<ul class="list passed">${findings.map(item)}</ul>`)
}

/** Rules that were not tested, each with the command that would test it. */
export function notTested(findings: readonly ReportedFinding[]): Markup | undefined {
  if (findings.length === 0) return undefined
  const item = ({ id, title, required, explanation, exercise_with = '' }: ReportedFinding) =>
    html`<li><b>${title}</b> <span class="id">${id}</span>${required && html` <span class="tag inconclusive">required</span>`}<p>${explanation}</p>
<pre tabindex="0"><code>${exercise_with}</code></pre></li>`
  return fold('Not tested', findings.length, html`<ul class="list not_exercised">${findings.map(item)}</ul>`)
}

function facts(parts: readonly (Markup | undefined | false)[]): Markup {
  return html`<dl class="facts">${parts}</dl>`
}

function fact(name: string, text: string | undefined): Markup | undefined {
  return text === undefined ? undefined : html`<div><dt>${name}</dt><dd>${text}</dd></div>`
}

/** One of two facts that stand side by side if there is room. */
function half(name: string, text: string | undefined, tone: 'passed' | 'failed'): Markup | undefined {
  return text === undefined ? undefined : html`<div class="half ${tone}"><dt>${name}</dt><dd>${text}</dd></div>`
}

/** The rule, and where to read more: the page comes with the package, so that nobody needs the network. */
function ruleOf(id: string, rule: string): Markup {
  return html`<div><dt>Rule</dt><dd><blockquote>${rule}</blockquote><p class="id">More: <code>yield-sandbox findings ${id}</code>, or docs/findings.md#${id}</p></dd></div>`
}

/** A chapter that is closed at first: successes, rules not tested, coverage. */
export function fold(title: string, count: number | undefined, content: Markup): Markup {
  return html`<details class="fold"><summary><h2>${title}${count !== undefined && html` <small>${count}</small>`}</h2></summary>${content}</details>`
}

/** Operations, error codes and faults that the client met. */
export function coverage({ coverage: { operations, errors, faults } }: Report): Markup {
  const all = html`${chips('Operations', operations)}${chips('Error codes', errors)}${chips('Faults', faults)}`
  return fold('Coverage', undefined, all)
}

function chips(title: string, covered: readonly Covered[]): Markup {
  const seen = covered.filter(({ exercised }) => exercised)
  const chip = ({ id, exercised, count }: Covered) =>
    exercised ? html`<li class="on">${id} ×${count}</li>` : html`<li>${id}</li>`
  return html`<h3>${title} <small class="id">${seen.length} of ${covered.length}</small></h3><ul class="chips">${covered.map(chip)}</ul>`
}

/** Maximum number of operations that are shown with their requests. */
const ARTICLES_SHOWN = 20

/** Outcomes of the operations: grave ones in full, the worst first; the good ones counted. */
export function operations(report: Report): Markup | undefined {
  const { grave, mild, rest } = shownOperations(report)
  if (grave.length + mild.length === 0 && rest === '') return undefined
  const left = grave.length - ARTICLES_SHOWN
  return html`<section><h2>What became of the money</h2>${grave.slice(0, ARTICLES_SHOWN).map((operation) => article(report, operation))}
${left > 0 && html`<p class="id">and ${left} more of these</p>`}
${mild.length > 0 && html`<ul class="list">${mild.map(item)}</ul>`}
${rest !== '' && html`<p class="passed rest">${rest}.</p>`}</section>`
}

function article(report: Report, { outcome, level, sentence, request_ids }: OperationOutcome): Markup {
  const exchanges = sequence(exchangesOf(report, request_ids))
  return html`<article class="${level}"><h3>${sentence}</h3><p><span class="tag">${level}</span><span class="id">${OUTCOMES[outcome].title}</span></p>
${exchanges && html`<details><summary>the requests that show it</summary>${exchanges}</details>`}</article>`
}

function item({ outcome, level, sentence }: OperationOutcome): Markup {
  return html`<li class="${level}"><span class="tag">${LEVEL_SIGNS[level]} ${OUTCOMES[outcome].title}</span> ${sentence}</li>`
}

/** The verdict in one sentence, and three numbers. */
export function head(report: Report, level: 'h1' | 'h2'): Markup {
  const { unmet } = report
  return html`${verdictHead({ ...report, numbers: findingNumbers(report) }, level)}
${unmet.length > 1 && html`<ul class="unmet">${unmet.map((reason) => html`<li>${reason}</li>`)}</ul>`}`
}

/** The subject of the report. */
export function brand(reports: readonly Report[]): Markup {
  const [first] = reports
  const day = first?.created_at.slice(0, 16).replace('T', ' ')
  const what =
    reports.length === 1 && first ? `${reportName(first)} · seed ${first.seed}` : `${reports.length} scenarios`
  return html`<div class="brand"><span><b>yield-sandbox</b> · ${what}</span>${first && html`<time datetime="${first.created_at}">${day} UTC</time>`}</div>`
}

/** Several runs at a glance. */
export function overview(reports: readonly Report[]): Markup {
  const row = (report: Report, i: number) =>
    html`<tr><td><a href="#run-${i}">${reportName(report)}</a></td><td class="${report.verdict}"><b>${report.verdict}</b></td><td class="n">${report.proved}</td><td class="n">${report.contradicted}</td><td class="n">${report.unproved}</td></tr>`
  const sum = mergedReport(reports)
  return html`${verdictHead({ ...sum, numbers: findingNumbers(sum) })}
<h2>Scenarios <small>${reports.length}</small></h2>
<div class="scroll" tabindex="0" role="region" aria-label="Scenarios"><table><thead><tr><th>scenario</th><th>verdict</th><th class="n">kept</th><th class="n">broken</th><th class="n">not tested</th></tr></thead><tbody>${reports.map(row)}</tbody></table></div>
${rules(reports)}`
}

/** Every rule that was tested, by scenario. */
function rules(reports: readonly Report[]): Markup | undefined {
  const rows = rulesTable(reports)
  if (rows.length === 0) return undefined
  const cell = (outcome: (typeof rows)[number]['outcomes'][number]) => {
    if (outcome === undefined) return html`<td></td>`
    const { sign, name } = RULE_SIGNS[outcome]
    return html`<td class="${outcome}" title="${name}" aria-label="${name}"><b>${sign}</b></td>`
  }
  const seen = new Set(rows.flatMap(({ outcomes }) => outcomes))
  const legend = (Object.keys(RULE_SIGNS) as (keyof typeof RULE_SIGNS)[]).filter((outcome) => seen.has(outcome))
  return html`<h2>Rules <small>${rows.length}</small></h2>
<div class="scroll" tabindex="0" role="region" aria-label="Rules by scenario"><table class="rules"><thead><tr><td></td>${reports.map((report, i) => html`<th scope="col"><a href="#run-${i}">${reportName(report)}</a></th>`)}</tr></thead><tbody>${rows.map(({ id, outcomes }) => html`<tr><th scope="row">${id}</th>${outcomes.map(cell)}</tr>`)}</tbody></table></div>
<p class="id">${legend.map((outcome) => `${RULE_SIGNS[outcome].sign} ${RULE_SIGNS[outcome].name}`).join(', ')}</p>`
}

/** Number of colours that distinguish keys; a seventh key has the first one's. */
const COLOURS = 6
/** Maximum number of exchanges in one diagram. */
const EXCHANGES_SHOWN = 8

/** Exchanges as a sequence diagram: the client on the left, the sandbox on the right; the same key has the same colour. */
export function sequence(exchanges: readonly ExchangeLine[]): Markup | undefined {
  if (exchanges.length === 0) return undefined
  const keys = [...new Set(exchanges.flatMap(({ idempotency_key }) => idempotency_key ?? []))]
  const left = exchanges.length - EXCHANGES_SHOWN
  return html`<figure class="seq" aria-label="What the client sent and what came back">
<div class="lanes" aria-hidden="true"><span>client</span><span>sandbox</span></div>
<ol>${exchanges.slice(0, EXCHANGES_SHOWN).map((line) => exchange(line, keys))}</ol>
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

/** CSS of the sequence diagrams: two lifelines, with requests and answers between them. */
const SEQUENCE_STYLE = `
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
