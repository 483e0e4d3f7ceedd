import { OUTCOMES } from '../../explore/render/outcomes.ts'
import { FINDINGS } from '../../verdict/findings/index.ts'
import { plainText } from '../../verdict/render/plain-text.ts'
import { type Certificate, summaryOf } from '../certificate.ts'
import { endInWords } from './finding-sections.ts'

/** For a terminal: what is wrong, a line each, then the sentence, the numbers and the digest. */
export function renderText({ digest, evidence }: Certificate): string {
  const { findings, scenarios, exploration } = evidence
  const { summary, proved, contradicted, unproved } = summaryOf(evidence)
  const titleOf = (id: string) => FINDINGS.find((finding) => finding.id === id)?.failureTitle ?? id
  const lines = [
    ...findings
      .filter(({ outcome }) => outcome === 'contradicted')
      .map(({ id, scenarios: where }) => `${titleOf(id)} (${id}; ${where.join(', ')})`),
    ...exploration.bad_cells.map(({ outcome, trial, sentences }) =>
      [`${trial}: ${OUTCOMES[outcome].name}`, ...sentences].join('; '),
    ),
    ...scenarios.filter(({ end }) => end !== '0').map(({ name, end }) => `${name}: the command ${endInWords(end)}`),
  ]
  return [
    ...lines.map((line) => `✗ ${plainText(line)}`),
    ...(lines.length > 0 ? [''] : []),
    summary,
    `${proved} proved, ${contradicted} contradicted, ${unproved} unproved; ${digest}`,
    '',
  ].join('\n')
}
