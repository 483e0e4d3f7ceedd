import { shellWords } from '../../support/shell-words.ts'
import { html, type Markup } from '../../verdict/render/html/markup.ts'
import type { Evidence } from '../evidence.ts'

/** Of what the certificate is, and by what. */
export function factsOf(digest: string, evidence: Evidence): Markup {
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

/** What was certified, as one writes it, with the flags that matter. */
function commandOf({ seed, clock, flags, command }: Evidence): string {
  const same = ['--seed', String(seed), '--clock', clock, ...flags]
  return shellWords(['yield-sandbox', 'certify', ...same, '--', ...command])
}
