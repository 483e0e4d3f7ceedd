import { execCommandLine } from '../../exec/exec-command-line.ts'
import type { Finding } from '../../verdict/finding.ts'
import { FINDINGS } from '../../verdict/findings/index.ts'
import { html, type Markup } from '../../verdict/render/html/markup.ts'
import type { Evidence, FindingOutcome } from '../evidence.ts'

type Entry = Evidence['findings'][number]

/** What is contradicted, with the rule, what it costs, and what to do. */
export function contradictedSection(evidence: Evidence): Markup | undefined {
  return section('Contradicted', of(evidence, 'contradicted'), (entries) =>
    entries.map((entry) => contradiction(entry, evidence)),
  )
}

function contradiction({ id, scenarios }: Entry, evidence: Evidence): Markup {
  const { failureTitle = id, impact = '', consequence = '', rule = '', fix = '' } = findingOf(id) ?? {}
  const flags = execFlagsIn(evidence.flags)
  const again = execCommandLine(['--scenario', scenarios[0] ?? ''], { ...evidence, flags })
  const fact = (name: string, text: string) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`
  return html`<article class="failed"><h3>${failureTitle}</h3>
<p><span class="tag">${impact}</span><span class="id">${id}</span></p>
<dl class="facts">${fact('Shown by', scenarios.join(', '))}${fact('What it costs', consequence)}${fact('Rule', rule)}${fact('Fix', fix)}
<div><dt>See it again</dt><dd><pre tabindex="0"><code>${again}</code></pre></dd></div></dl></article>`
}

/** How many words each of `certify`'s own flags has; they stand before those that make the same sandbox. */
const OWN_FLAGS = new Map([
  ['--timeout', 2],
  ['--before', 2],
  ['--tolerate', 1],
])

function execFlagsIn(flags: readonly string[]): readonly string[] {
  const wordsAt = (index: number) => OWN_FLAGS.get(flags[index] ?? '') ?? 0
  let first = 0
  while (wordsAt(first) > 0) first += wordsAt(first)
  return flags.slice(first)
}

/** Every scenario, and how the command came through it. */
export function scenariosSection({ scenarios }: Evidence): Markup | undefined {
  const row = ({ name, verdict, end }: Evidence['scenarios'][number]) =>
    html`<tr><td>${name}</td><td class="${verdict}"><b>${verdict}</b></td><td class="${end === '0' ? 'passed' : 'failed'}"><b>${endInWords(end)}</b></td></tr>`
  return section('Scenarios', scenarios, () => [
    html`<div class="scroll" tabindex="0"><table><thead><tr><th>scenario</th><th>verdict</th><th>the command</th></tr></thead><tbody>${scenarios.map(row)}</tbody></table></div>
<p class="id">Inconclusive: what the scenario is there for did not come about, such as a withdrawal.</p>`,
  ])
}

/** "ended well", "failed: code 1" */
export function endInWords(end: string): string {
  if (end === '0') return 'ended well'
  if (end === 'timeout') return 'failed: not done in time'
  return /^\d+$/.test(end) ? `failed: code ${end}` : `failed: ${end}`
}

/** What was proved, and where. */
export function provedSection(evidence: Evidence): Markup | undefined {
  return section('Proved', of(evidence, 'proved'), (entries) => [
    html`<ul class="list passed">${entries.map((entry) => html`<li>${titleOf(entry)}<p>${entry.scenarios.join(', ')}</p></li>`)}</ul>`,
  ])
}

/** What is open, and what it would take. */
export function unprovedSection(evidence: Evidence): Markup | undefined {
  return section('Unproved', of(evidence, 'unproved'), (entries) => [
    html`<ul class="list not_exercised">${entries.map((entry) => html`<li>${titleOf(entry)}<p>It takes ${findingOf(entry.id)?.situation}.</p></li>`)}</ul>`,
  ])
}

function titleOf({ id }: Entry): Markup {
  return html`<b>${findingOf(id)?.title ?? id}</b> <span class="id">${id}</span>`
}

function section<T>(
  title: string,
  entries: readonly T[],
  content: (entries: readonly T[]) => Markup[],
): Markup | undefined {
  if (entries.length === 0) return undefined
  return html`<section><h2>${title} <small>${entries.length}</small></h2>${content(entries)}</section>`
}

function of({ findings }: Evidence, wanted: FindingOutcome): Entry[] {
  return findings.filter(({ outcome }) => outcome === wanted)
}

/** Undefined where this version has no such finding. */
function findingOf(id: string): Finding | undefined {
  return FINDINGS.find((finding) => finding.id === id)
}
