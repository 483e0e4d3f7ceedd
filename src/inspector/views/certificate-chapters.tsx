import type { CertificateDocument } from '../../certify/certificate-document.ts'
import { place } from '../model/address.ts'
import { idInWords, LEVELS } from '../model/levels.ts'
import { matrixOf } from '../model/matrix.ts'
import { Chapter } from '../parts/chapter.tsx'
import { CopyBox } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Card, FindingCard, FindingList, Fold } from '../parts/finding-card.tsx'
import { MatrixTable } from '../parts/matrix-table.tsx'
import { toneOfVerdict } from '../parts/numbers.tsx'
import { RULE_OUTCOMES, type RuleOutcome, RulesTable } from '../parts/rules-table.tsx'
import { Table } from '../parts/table.tsx'
import { ReportNumbers } from './report-chapters.tsx'

interface Props {
  certificate: CertificateDocument
}

/** Verdict, numbers, and the circumstances of a certificate. */
export function CertificateHead({ certificate }: Props) {
  const { digest, words, evidence } = certificate
  const { subject, specification, version, seed, clock, fixtures, exploration } = evidence
  return (
    <>
      <ReportNumbers report={certificate} />
      <Facts
        facts={[
          ['Subject', subject],
          ['Specification and sandbox', `Yield Portfolio Partner API ${specification}, yield-sandbox ${version}`],
          ['Seed and clock', `${seed}, ${clock}`],
          ['Fixtures', fixtures ?? 'those of the sandbox'],
          [
            'Not repeatable',
            exploration.repeatable ? undefined : 'Runs without faults differ: another run may come to another digest.',
          ],
          ['Killed and started again', crashesInWords(exploration.not_restartable)],
          ['Digest of the evidence', <code>{digest}</code>],
        ]}
      />
      <CopyBox label="Command" text={words.again} />
    </>
  )
}

/** Nothing for a certificate of an earlier version, which did not try it. */
function crashesInWords(reason: string | null | undefined): string | undefined {
  if (typeof reason !== 'string') return reason === null ? 'at every request' : undefined
  return `unproved: the command, ${reason}. Certify one that goes on with what it left open.`
}

/** What came of every scenario and of every fault, the worst first. */
export function CertificateChapters({ certificate: { evidence, words } }: Props) {
  const { scenarios, findings, exploration } = evidence
  const broken = findings.filter(({ outcome }) => outcome === 'contradicted')
  const untested = findings.filter(({ outcome }) => outcome === 'unproved')
  const titleOf = (id: string) => words.rules[id]?.title ?? id
  return (
    <>
      <Chapter title="Broken" note={broken.length}>
        {broken.map(({ id, contradicted_in }) => {
          const { title = id, impact = '', again: exercise_with, ...others } = words.rules[id]?.broken ?? {}
          const explanation = `Shown by ${contradicted_in.join(', ')}.`
          const finding = { id, title, impact, explanation, outcome: 'failed' as const, exercise_with, ...others }
          return <FindingCard key={id} finding={finding} />
        })}
      </Chapter>
      <Causes evidence={evidence} words={words} />
      <Chapter title="Every fault at every operation" shown={exploration.trials.length > 0}>
        <MatrixTable
          matrix={matrixOf(
            exploration.trials.map((trial) => ({ ...trial, fault: words.hazards[trial.hazard] ?? trial.hazard })),
            Object.keys(words.outcomes),
          )}
          names={words.outcomes}
        />
      </Chapter>
      <Scenarios evidence={evidence} words={words} />
      <RulesTable
        columns={scenarios}
        rows={findings.map((entry) => ({
          id: entry.id,
          title: titleOf(entry.id),
          outcomes: scenarios.map(({ name }) => outcomeIn(entry, name)),
        }))}
      />
      {untested.length > 0 && (
        <Fold title="Not tested" count={untested.length}>
          <FindingList
            selected={place.value.selected}
            findings={untested.map(({ id }) => ({
              ...{ id, title: titleOf(id), impact: '', outcome: 'not_exercised' as const },
              explanation: `Needs ${words.rules[id]?.situation}.`,
            }))}
          />
        </Fold>
      )}
    </>
  )
}

type Parts = Pick<CertificateDocument, 'evidence' | 'words'>

/** Where money went astray: one card for one cause. */
function Causes({ evidence: { exploration }, words }: Parts) {
  const of = (index: number) => exploration.incidents.slice(index, index + 1)
  return (
    <Chapter title="Money" note={words.causes.length}>
      {words.causes.flatMap(({ first, others, also_at }) =>
        of(first).map(({ trial, outcome, level, sentences, count, findings, repeat }) => (
          <Card
            key={trial}
            title={trial}
            mark={`${words.outcomes[outcome]?.name ?? idInWords(outcome)}, ${level}`}
            tone={LEVELS[level].tone}
          >
            {(sentences.length > 0 ? sentences : [words.outcomes[outcome]?.meaning]).map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
            {count > 1 && <p class="mute">{count} runs with this fault at this operation went wrong or need review.</p>}
            <Facts
              facts={findings.map(
                (id) => ['Why', `${words.rules[id]?.broken?.title ?? words.rules[id]?.title ?? id} (${id})`] as const,
              )}
            />
            <CopyBox label="See it again" text={repeat} />
            {others.length > 0 && (
              <details>
                <summary>Also at {also_at}</summary>
                {others.flatMap(of).map((other) => (
                  <div key={other.trial}>
                    <p>
                      {other.trial}: {other.sentences.join('; ')}
                    </p>
                    <CopyBox label={other.trial} text={other.repeat} />
                  </div>
                ))}
              </details>
            )}
          </Card>
        )),
      )}
    </Chapter>
  )
}

/** Every scenario, how the command ended in it, and which of its operations are not well. */
function Scenarios({ evidence: { scenarios }, words }: Parts) {
  return (
    <Chapter title="Scenarios" note={scenarios.length}>
      <Table
        label="Scenarios"
        head={['scenario', 'verdict', 'the command', 'operations of which not all is well']}
        rows={scenarios.map(({ name, verdict, end }, i) => {
          const said = words.scenarios[i]
          return {
            key: name,
            cells: [
              name,
              <b class={toneOfVerdict(verdict)}>{verdict}</b>,
              <b class={said?.failed ? 'bad' : 'ok'}>{said?.end ?? end}</b>,
              said?.operations.map((operation) => <div key={operation}>{operation}</div>),
            ],
          }
        })}
      />
    </Chapter>
  )
}

function outcomeIn(entry: CertificateDocument['evidence']['findings'][number], scenario: string): RuleOutcome {
  if (entry.contradicted_in.includes(scenario)) return RULE_OUTCOMES[0]
  if (entry.review_in.includes(scenario)) return RULE_OUTCOMES[1]
  return RULE_OUTCOMES[entry.proved_in.includes(scenario) ? 3 : 4]
}
