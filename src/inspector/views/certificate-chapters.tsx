import type { CertificateDocument } from '../../certify/certificate-document.ts'
import { idInWords, LEVELS } from '../model/levels.ts'
import { matrixOf } from '../model/matrix.ts'
import { CopyBox } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Card, Fold, Rule } from '../parts/finding-card.tsx'
import { MatrixTable } from '../parts/matrix-table.tsx'
import { Numbers, toneOfVerdict } from '../parts/numbers.tsx'
import { type RuleOutcome, RulesTable } from '../parts/rules-table.tsx'
import { Sideways } from '../parts/sideways.tsx'
import { Table } from '../parts/table.tsx'

interface Props {
  certificate: CertificateDocument
}

/** Verdict, numbers, and the circumstances of a certificate. */
export function CertificateHead({ certificate }: Props) {
  const { verdict, proved, contradicted, unproved, digest, words, evidence } = certificate
  const { subject, specification, version, seed, clock, fixtures, exploration } = evidence
  return (
    <>
      <Numbers
        verdict={verdict}
        counts={[
          [contradicted, 'broken', 'bad'],
          [proved, 'rules kept', 'ok'],
          [unproved, 'not tested', 'mute'],
        ]}
      />
      <Facts
        facts={[
          ['Subject', subject],
          ['Specification and sandbox', `Yield Portfolio Partner API ${specification}, yield-sandbox ${version}`],
          ['Seed and clock', `${seed}, ${clock}`],
          ['Fixtures', fixtures ?? 'those of the sandbox'],
          [
            'Not repeatable',
            exploration.repeatable
              ? undefined
              : 'Runs without faults differ, which was tolerated: another run may come to another digest.',
          ],
          ['Digest of the evidence', <code>{digest}</code>],
        ]}
      />
      <CopyBox label="Command" text={words.again} />
    </>
  )
}

/** What came of every scenario and of every fault, the worst first. */
export function CertificateChapters({ certificate: { evidence, words } }: Props) {
  const { scenarios, findings, exploration } = evidence
  const broken = findings.filter(({ outcome }) => outcome === 'contradicted')
  const untested = findings.filter(({ outcome }) => outcome === 'unproved')
  const titleOf = (id: string) => words.rules[id]?.title ?? id
  return (
    <>
      {broken.length > 0 && (
        <section class="stack">
          <h2>
            Broken <small class="mute">{broken.length}</small>
          </h2>
          {broken.map(({ id, contradicted_in }) => (
            <BrokenRule key={id} id={id} shownBy={contradicted_in} words={words.rules[id]?.broken} />
          ))}
        </section>
      )}
      <Causes evidence={evidence} words={words} />
      {exploration.trials.length > 0 && (
        <section class="stack">
          <h2>Every fault at every operation</h2>
          <MatrixTable
            matrix={matrixOf(
              exploration.trials.map((trial) => ({ ...trial, fault: words.hazards[trial.hazard] ?? trial.hazard })),
              Object.keys(words.outcomes),
            )}
            names={words.outcomes}
          />
        </section>
      )}
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
          <ul class="list">
            {untested.map(({ id }) => (
              <li key={id}>
                <b class="mute">–</b>
                <div>
                  {titleOf(id)} <small class="mute">{id}</small>
                  <p class="mute">Needs {words.rules[id]?.situation}.</p>
                </div>
              </li>
            ))}
          </ul>
        </Fold>
      )}
    </>
  )
}

type Words = CertificateDocument['words']
type Parts = Pick<CertificateDocument, 'evidence' | 'words'>

function BrokenRule({
  id,
  shownBy,
  words,
}: {
  id: string
  shownBy: string[]
  words: Words['rules'][string]['broken']
}) {
  return (
    <Card title={words?.title ?? id} mark={words?.impact ?? ''} tone="bad">
      <Facts
        facts={[
          ['Shown by', shownBy.join(', ')],
          ['What it costs', words?.consequence],
          ['Change', words?.fix],
        ]}
      />
      {words && (
        <>
          <Rule id={id} rule={words.rule} />
          <CopyBox label="See it again" text={words.again} />
        </>
      )}
    </Card>
  )
}

/** Where money went astray: one card for one cause. */
function Causes({ evidence: { exploration }, words }: Parts) {
  if (words.causes.length === 0) return null
  const of = (index: number) => exploration.incidents.slice(index, index + 1)
  return (
    <section class="stack">
      <h2>
        Money <small class="mute">{words.causes.length}</small>
      </h2>
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
    </section>
  )
}

/** Every scenario, how the command ended in it, and which of its operations are not well. */
function Scenarios({ evidence: { scenarios }, words }: Parts) {
  if (scenarios.length === 0) return null
  return (
    <section class="stack">
      <h2>
        Scenarios <small class="mute">{scenarios.length}</small>
      </h2>
      <Sideways label="Scenarios">
        <Table
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
      </Sideways>
      <p class="mute">
        Inconclusive: the scenario came to no verdict, since something that it is there for did not come about, such as
        a withdrawal, or needs review.
      </p>
    </section>
  )
}

function outcomeIn(entry: CertificateDocument['evidence']['findings'][number], scenario: string): RuleOutcome {
  if (entry.contradicted_in.includes(scenario)) return 'broken'
  if (entry.review_in.includes(scenario)) return 'needs review'
  return entry.proved_in.includes(scenario) ? 'kept' : 'not tested'
}
