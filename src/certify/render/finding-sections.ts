import { execCommandLine } from '../../exec/exec-command-line.ts'
import { html, type Markup } from '../../render/html-page.ts'
import type { Finding } from '../../verdict/finding.ts'
import { FINDINGS } from '../../verdict/findings/index.ts'
import { failedItself } from '../certificate.ts'
import { type CertificateEvidence, type FindingOutcome, operationInWords, type ScenarioEvidence } from '../evidence.ts'

type FindingEntry = CertificateEvidence['findings'][number]

/** Broken rules: each with its rule, its cost, and the fix. */
export function contradictedSection(evidence: CertificateEvidence): Markup | undefined {
  return section('Broken', of(evidence, 'contradicted'), (entries) =>
    entries.map((entry) => contradiction(entry, evidence)),
  )
}

function contradiction({ id, contradicted_in }: FindingEntry, evidence: CertificateEvidence): Markup {
  const { failureTitle = id, impact = '', consequence = '', rule = '', fix = '' } = findingOf(id) ?? {}
  const again = scenarioCommand(contradicted_in[0] ?? '', evidence)
  const fact = (name: string, text: string) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`
  return html`<article class="failed"><h3>${failureTitle}</h3>
<p><span class="tag">${impact}</span><span class="id">${id}</span></p>
<dl class="facts">${fact('Shown by', contradicted_in.join(', '))}${fact('What it costs', consequence)}${fact('Rule', rule)}${fact('Fix', fix)}
<div><dt>See it again</dt><dd><pre tabindex="0"><code>${again}</code></pre></dd></div></dl></article>`
}

/** Every scenario, how the command ended in it, and the outcomes of its operations. */
export function scenariosSection({ scenarios }: CertificateEvidence): Markup | undefined {
  const row = (scenario: ScenarioEvidence) => {
    const { name, verdict, operations } = scenario
    const tone = failedItself(scenario) ? 'failed' : 'passed'
    const became = operations.map((operation) => html`<li>${operationInWords(operation)}</li>`)
    return html`<tr><th scope="row">${name}</th><td class="${verdict}"><b>${verdict}</b></td><td class="${tone}"><b>${endInWords(scenario)}</b></td><td>${became.length > 0 && html`<ul>${became}</ul>`}</td></tr>`
  }
  const columns = ['scenario', 'verdict', 'the command', 'operations of which not all is well']
  const head = columns.map((column) => html`<th scope="col">${column}</th>`)
  return section('Scenarios', scenarios, () => [
    html`<div class="scroll" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${scenarios.map(row)}</tbody></table></div>
<p class="id">Inconclusive: the scenario came to no verdict, since something that it is there for did not come about, such as a withdrawal, or needs review.</p>`,
  ])
}

/** A table of every rule in every scenario. */
export function rulesSection({ findings, scenarios }: CertificateEvidence): Markup | undefined {
  const head = scenarios.map(({ name }) => html`<th scope="col">${name}</th>`)
  const row = (entry: FindingEntry) =>
    html`<tr><th scope="row">${titleOf(entry)}</th>${scenarios.map(({ name }) => cellOf(entry, name))}</tr>`
  const legend = Object.values(SIGNS).map(
    ({ sign, tone, meaning }) => html`<li class="${tone}"><b>${sign}</b>: ${meaning}</li>`,
  )
  return section('Rules by scenario', findings, () => [
    html`<div class="scroll" tabindex="0"><table class="matrix"><thead><tr><th scope="col">rule</th>${head}</tr></thead><tbody>${findings.map(row)}</tbody></table></div><ul class="legend">${legend}</ul>`,
  ])
}

const SIGNS = {
  contradicted_in: { sign: '✗', tone: 'failed', meaning: 'broken' },
  review_in: { sign: '?', tone: 'inconclusive', meaning: 'needs review' },
  proved_in: { sign: '✓', tone: 'passed', meaning: 'kept' },
  none: { sign: '·', tone: 'not_exercised', meaning: 'not tested' },
}

function cellOf(entry: FindingEntry, scenario: string): Markup {
  const where = (['contradicted_in', 'review_in', 'proved_in'] as const).find((list) => entry[list].includes(scenario))
  const { sign, tone, meaning } = SIGNS[where ?? 'none']
  return html`<td class="cell ${tone}" title="${meaning}" aria-label="${meaning}">${sign}</td>`
}

/** "ended well", "failed: code 1", "failed, as it may: code 1" */
export function endInWords(scenario: Pick<ScenarioEvidence, 'end' | 'may_fail'>): string {
  const { end } = scenario
  if (end === '0') return 'ended well'
  if (end === 'timeout') return 'failed: not done in time'
  if (!/^\d+$/.test(end)) return `failed: ${end}`
  return failedItself(scenario) ? `failed: code ${end}` : `failed, as it may: code ${end}`
}

/** Rules that were not tested, and the situation that each needs. */
export function unprovedSection(evidence: CertificateEvidence): Markup | undefined {
  return section('Not tested', of(evidence, 'unproved'), (entries) => [
    html`<ul class="list not_exercised">${entries.map((entry) => html`<li>${titleOf(entry)}<p>Needs ${findingOf(entry.id)?.situation}.</p></li>`)}</ul>`,
  ])
}

function titleOf({ id }: FindingEntry): Markup {
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

function of({ findings }: CertificateEvidence, wanted: FindingOutcome): FindingEntry[] {
  return findings.filter(({ outcome }) => outcome === wanted)
}

/** Undefined if this version does not have the finding. */
function findingOf(id: string): Finding | undefined {
  return FINDINGS.find((finding) => finding.id === id)
}

/** A command line that runs the command through a scenario again, as `certify` did. It drops --tolerate, which `exec` does not have. */
export function scenarioCommand(scenario: string, { seed, flags, command }: CertificateEvidence): string {
  const kept = flags[0] === '--tolerate' ? flags.slice(1) : flags
  return execCommandLine(['--scenario', scenario], { seed, flags: kept, command })
}
