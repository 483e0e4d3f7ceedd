import { MATRIX_STYLE } from '../../explore/render/html.ts'
import { html, type Markup, page, raw, STYLE, type VerdictHead, verdictHead } from '../../render/html-page.ts'
import { shellWords } from '../../support/foreign-text.ts'
import { type Certificate, type CertificateSummary, certificateSummary } from '../certificate.ts'
import type { CertificateEvidence } from '../evidence.ts'
import { explorationSections } from './exploration-sections.ts'
import { contradictedSection, rulesSection, scenariosSection, unprovedSection } from './finding-sections.ts'

/** Marks before and behind the certificate in the page. */
export const EMBEDDED = { begin: '<script type="application/json" id="certificate">', end: '</script>' }

/** Renders a self-contained page: no network, no script. The same certificate gives the same bytes. */
export function renderPage(certificate: Certificate): string {
  const { evidence } = certificate
  return page({
    title: certificateSummary(evidence).summary,
    style: STYLE + MATRIX_STYLE,
    header: head(certificate),
    main: html`${contradictedSection(evidence)}${explorationSections(evidence)}${scenariosSection(evidence)}${rulesSection(evidence)}${unprovedSection(evidence)}`,
    footer: html`<p>Made by yield-sandbox ${evidence.version}. Kept: the situation arose in one of the scenarios, and the client did right. Broken: the exchanges show that it did wrong. Not tested: the situation never arose, or traffic alone cannot show it.</p>
<p>yield-sandbox certify --verify with this file says whether it is as it was made. The digest does not say who made it.</p>${embedded(certificate)}`,
  })
}

function head({ digest, evidence }: Certificate): Markup {
  const summary = certificateSummary(evidence)
  return html`<div class="brand"><span><b>yield-sandbox certificate</b>${evidence.subject !== null && html` · ${evidence.subject}`}</span></div>
${verdictHead({ ...summary, numbers: numbersOf(summary) })}
${factsOf(digest, evidence)}`
}

function numbersOf({ proved, contradicted, unproved }: CertificateSummary): VerdictHead['numbers'] {
  return [
    [proved, 'rules kept'],
    [contradicted, 'broken'],
    [unproved, 'not tested'],
  ]
}

/** The certificate as data, which no browser runs; escaped so that it cannot end the element. */
function embedded(certificate: Certificate): Markup {
  return raw(`${EMBEDDED.begin}${JSON.stringify(certificate).replaceAll('<', '\\u003c')}${EMBEDDED.end}`)
}

/** Subject and circumstances of the certificate. */
function factsOf(digest: string, evidence: CertificateEvidence): Markup {
  const { subject, version, specification, seed, fixtures, clock, exploration } = evidence
  const fact = (name: string, text: string | number) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`
  return html`<dl class="facts">${subject !== null && fact('Subject', subject)}
<div><dt>Command</dt><dd><code>${commandOf(evidence)}</code></dd></div>
${fact('Specification and sandbox', `Yield Portfolio Partner API ${specification}, yield-sandbox ${version}`)}
${fact('Seed and clock', `${seed}, ${clock}`)}
${fact('Fixtures', fixtures ?? 'those of the sandbox')}
${!exploration.repeatable && fact('Not repeatable', 'Runs without faults differ, which was tolerated: another run may come to another digest.')}
<div><dt>Digest of the evidence</dt><dd><code>${digest}</code></dd></div></dl>`
}

/** The command line of the certification, with the flags that matter. */
function commandOf({ seed, clock, flags, command }: CertificateEvidence): string {
  const same = ['--seed', String(seed), '--clock', clock, ...flags]
  return shellWords(['yield-sandbox', 'certify', ...same, '--', ...command])
}
