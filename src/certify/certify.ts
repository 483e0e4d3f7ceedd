import { endInAWord } from '../exec/command-end.ts'
import { type AllTerms, runAll } from '../exec/run-all.ts'
import type { Run } from '../exec/sandbox-run.ts'
import { type Exploration, TRIAL_OUTCOMES, type TrialResult } from '../explore/exploration.ts'
import { type ExploreTerms, explore, limitOf } from '../explore/explore.ts'
import { isBad } from '../explore/judge/judge-trial.ts'
import { sharedExploration } from '../explore/results/exploration-files.ts'
import { OUTCOMES } from '../oracle/outcome.ts'
import { mayFail, type Scenario } from '../scenarios/scenario-schema.ts'
import { shorten } from '../support/foreign-text.ts'
import { grouped } from '../support/maps.ts'
import { withTilde } from '../support/with-tilde.ts'
import { FINDING_IDS } from '../verdict/finding-ids.ts'
import { FINDINGS } from '../verdict/findings/index.ts'
import type { ReportedFinding } from '../verdict/report.ts'
import { version } from '../version.ts'
import { certificateOf } from './certificate.ts'
import type { Certificate } from './certificate-document.ts'
import { type CertificateEvidence, type CertifiedIncident, FORM, isOpen, type ScenarioEvidence } from './evidence.ts'

/** Options of `certify`. */
export interface CertifyTerms
  extends CertifiedTerms,
    Pick<
      ExploreTerms,
      'command' | 'before' | 'renames' | 'env' | 'interruption' | 'options' | 'host' | 'clock' | 'timeout'
    >,
    Pick<ExploreTerms, 'restarts' | 'books' | 'jobs' | 'tolerate' | 'kinds' | 'operations' | 'watch'>,
    Pick<AllTerms, 'out' | 'progress' | 'say'> {
  scenarios: readonly Scenario[]
  /** Called when the exploration is over. */
  explored(): void
}

/**
 * Runs the command through an exploration, which reports at once if the command itself is unusable, then through every scenario.
 * Resolves to undefined when it was interrupted. Throws the errors of `explore` and `exec`.
 */
export async function certify(terms: CertifyTerms): Promise<Certificate | undefined> {
  const { interruption } = terms
  const exploration = await explore({
    ...terms,
    // What holds an exchange until the command is dead must be in this process.
    host: undefined,
    crash: { recover: undefined, kill: undefined, restarts: RESTARTS, ifRestartable: true },
    depth: 1,
    maxRuns: undefined,
    budget: undefined,
    known: new Map(),
  })
  terms.explored()
  if (!exploration || interruption.asked.aborted) return undefined
  const runs = await runAll({
    ...terms,
    faults: [],
    required: [],
    timeout: terms.timeout ?? limitOf(exploration.baseline.took_ms),
  })
  if (interruption.asked.aborted) return undefined
  for (const { scenario, report } of runs) {
    if (report.verdict === 'inconclusive') terms.say(`scenario ${scenario?.name}: ${report.summary}`)
  }
  const home = terms.env.HOME
  const flags = terms.flags.map((flag) => withTilde(flag, home))
  return certificateOf(evidenceOf(runs, sharedExploration(exploration, home), { ...terms, flags }))
}

/** Subject of the certificate, and circumstances of its runs. */
interface CertifiedTerms {
  subject: string | undefined
  /** As `Evidence` has them. */
  flags: readonly string[]
  fixtures: string | null
}

/** Maximum number of starts after a kill. */
const RESTARTS = 3

/** spec: Versioning 2. The value of `X-Yield-Api-Version`. */
const SPECIFICATION = '1.0.0'

/** Gathers the evidence of the scenarios and the exploration, without anything that varies from run to run. */
export function evidenceOf(
  runs: readonly Run[],
  exploration: Exploration,
  { subject, flags, fixtures }: CertifiedTerms,
): CertificateEvidence {
  const { command, seed, clock } = exploration
  const lasting = lastingNames(exploration)
  return {
    form: FORM,
    version,
    specification: SPECIFICATION,
    subject: subject ?? null,
    command: [...command],
    flags: [...flags],
    fixtures,
    seed,
    clock,
    scenarios: runs.map((run) => scenarioEvidence(run, lasting)),
    findings: mergeFindings(
      runs.map(({ scenario, report }) => ({ name: scenario?.name ?? '', findings: report.findings })),
    ),
    exploration: explorationEvidence(exploration),
  }
}

/** The findings of one scenario. */
export interface ScenarioFindings {
  name: string
  findings: readonly Pick<ReportedFinding, 'id' | 'outcome'>[]
}

/**
 * Merges the findings of all scenarios: contradicted where any scenario contradicts one, else proved where any proves it, else
 * unproved; each with the scenarios that show it, one way or the other.
 */
export function mergeFindings(scenarios: readonly ScenarioFindings[]): CertificateEvidence['findings'] {
  return FINDING_IDS.map((id) => {
    const showing = (...outcomes: ReportedFinding['outcome'][]) =>
      scenarios
        .filter(({ findings }) => findings.some((one) => one.id === id && outcomes.includes(one.outcome)))
        .map(({ name }) => name)
    const where = {
      contradicted_in: showing('failed'),
      proved_in: showing('passed'),
      review_in: showing('needs_review', 'errored'),
    }
    if (where.contradicted_in.length > 0) return { id, outcome: 'contradicted' as const, ...where }
    return { id, outcome: where.proved_in.length > 0 ? ('proved' as const) : ('unproved' as const), ...where }
  })
}

const WORST_FIRST = Object.keys(OUTCOMES)

/** Evidence of a run through a scenario; `lasting` holds the names that end users have in every run. */
function scenarioEvidence({ scenario, report, end }: Run, lasting: ReadonlySet<string>): ScenarioEvidence {
  return {
    name: scenario?.name ?? '',
    verdict: report.verdict,
    end: endInAWord(end),
    may_fail: mayFail(scenario),
    operations: notableOperations(report, lasting),
  }
}

function notableOperations(
  { operations }: Run['report'],
  lasting: ReadonlySet<string>,
): ScenarioEvidence['operations'] {
  const notable = operations
    .filter(({ level }) => level !== 'ok')
    .map(({ type, external_id: name, outcome, level }) => {
      return { type, external_id: name !== null && lasting.has(name) ? name : null, outcome, level }
    })
  return [...grouped(notable, (one) => JSON.stringify(one)).values()]
    .flatMap(([first, ...others]) => (first ? [{ ...first, count: others.length + 1 }] : []))
    .sort(
      (a, b) =>
        WORST_FIRST.indexOf(a.outcome) - WORST_FIRST.indexOf(b.outcome) ||
        (operationSortKey(a) < operationSortKey(b) ? -1 : 1),
    )
}

function operationSortKey(operation: ScenarioEvidence['operations'][number]): string {
  return JSON.stringify([operation.external_id, operation.type, operation.level])
}

/** Findings that explain where money went; others vary with the speed of the machine. */
const CRITICAL = new Set<string>(FINDINGS.filter(({ impact }) => impact === 'critical').map(({ id }) => id))
/** Matches a sentence about one operation: it names an end user, whose name may differ in every run. */
const OF_AN_OPERATION =
  /^(.*?)((?:'s (?:deposit|withdrawal|new portfolio|balance)\b|: a (?:deposit|withdraw) was carried out).*)$/s
/** Outcomes whose sentences may differ in the next run. */
const VARYING = new Set<string>(['hung', 'errored'])
/** Number of characters of a name that sentences show. */
const NAME_SHOWN = 40

/** Outcomes of all runs by their ids, and incidents where something went wrong. */
function explorationEvidence(exploration: Exploration): CertificateEvidence['exploration'] {
  const { baseline, results } = exploration
  const byId = [...results].sort((a, b) => (a.trial.id < b.trial.id ? -1 : 1))
  const doubtful = byId.filter(({ level }) => isBad(level) || isOpen(level))
  const lasting = new Set([...lastingNames(exploration)].flatMap((name) => [name, shorten(name, NAME_SHOWN)]))
  const cells = grouped(doubtful, ({ trial: { harms } }) =>
    harms.map(({ position, hazard }) => `${position.operation} ${hazard.id}`).join(),
  )
  return {
    repeatable: baseline.difference === null,
    not_restartable: exploration.not_restartable ?? null,
    trials: byId.flatMap(({ trial, outcome, level }) =>
      trial.harms.map(({ position: { operation }, hazard }) => ({
        id: trial.id,
        operation,
        hazard: hazard.id,
        outcome,
        level,
      })),
    ),
    incidents: [...cells.values()].flatMap((results) => incidentOf(results, lasting)),
  }
}

/** Names that end users have in every run. */
function lastingNames({ results }: Pick<Exploration, 'results'>): Set<string> {
  return new Set(results.flatMap(({ trial }) => trial.harms.flatMap(({ position }) => position.external_id ?? [])))
}

/** Empty when there are no results. */
function incidentOf(results: readonly TrialResult[], lasting: ReadonlySet<string>): CertifiedIncident[] {
  const worst = TRIAL_OUTCOMES.find((outcome) => results.some((result) => result.outcome === outcome))
  const first = results.find(({ outcome }) => outcome === worst)
  const strike = first?.trial.harms[0]
  if (!first || !strike) return []
  return [
    {
      operation: strike.position.operation,
      hazard: strike.hazard.id,
      outcome: first.outcome,
      level: first.level,
      trial: first.trial.id,
      count: results.length,
      // How far a command comes before it hangs depends on when it was ended; an error of the sandbox may name a port.
      sentences: VARYING.has(first.outcome) ? [] : first.sentences.map((sentence) => withoutName(sentence, lasting)),
      findings: first.findings.map(({ id }) => id).filter((id) => CRITICAL.has(id)),
      repeat: first.repeat,
      ...moneyEvidence(first, lasting),
    },
  ]
}

/** Sorted, since end users without a lasting name come in no certain order. How much a hung command moves depends on when it was ended. */
function moneyEvidence(
  { outcome, money = [] }: TrialResult,
  lasting: ReadonlySet<string>,
): Pick<CertifiedIncident, 'money'> {
  if (VARYING.has(outcome)) return {}
  const wrong = money
    .filter(({ expected_minor, is_minor }) => expected_minor !== is_minor)
    .map((one) => ({ ...one, external_id: lasting.has(one.external_id) ? one.external_id : null }))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return wrong.length > 0 ? { money: wrong } : {}
}

/** Replaces the name of an end user who has another name in every run. */
function withoutName(sentence: string, lasting: ReadonlySet<string>): string {
  const [, name = '', rest] = OF_AN_OPERATION.exec(sentence) ?? []
  return rest === undefined || lasting.has(name) ? sentence : `an end user${rest}`
}
