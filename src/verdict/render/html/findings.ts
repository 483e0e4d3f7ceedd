import type { ConfigurationCause, Report, ReportedFinding } from '../../report.ts'
import { exchangesOf } from '../exchanges-of.ts'
import { fold } from './fold.ts'
import { html, type Markup } from './markup.ts'
import { sequence } from './sequence.ts'

/** Mistakes in the set-up, a line each: what was expected, what came, what to do. */
export function setUp(causes: readonly ConfigurationCause[]): Markup | undefined {
  if (causes.length === 0) return undefined
  const article = ({ title, expected, came, fix, count, id }: ConfigurationCause) =>
    html`<article class="setup"><h3>${title}</h3><p class="id">${id} · ${count === 1 ? '1 request' : `${count} requests`} refused</p>
${facts([half('Expected', expected, 'passed'), half('Came', came, 'failed'), fact('Fix', fix)])}</article>`
  return html`<section><h2>Set-up <small>first: it explains what was refused</small></h2>${causes.map(article)}</section>`
}

/** Rules that were broken, with all there is to understand and fix it. */
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

/** What nobody can know from the traffic, and judges that failed. */
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

/** One of two facts that stand side by side where there is room. */
function half(name: string, text: string | undefined, tone: 'passed' | 'failed'): Markup | undefined {
  return text === undefined ? undefined : html`<div class="half ${tone}"><dt>${name}</dt><dd>${text}</dd></div>`
}

/** The rule, and where there is more to read: the page comes with the package, and is not asked for over the network. */
function ruleOf(id: string, rule: string): Markup {
  return html`<div><dt>Rule</dt><dd><blockquote>${rule}</blockquote><p class="id">More: <code>yield-sandbox findings ${id}</code>, or docs/findings.md#${id}</p></dd></div>`
}
