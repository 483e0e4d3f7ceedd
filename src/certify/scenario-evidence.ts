import { endInAWord } from '../exec/command-end.ts'
import type { Run } from '../exec/sandbox-run.ts'
import { OUTCOMES } from '../oracle/outcome.ts'
import { mayFail } from '../scenarios/scenario-schema.ts'
import { grouped } from '../support/grouped.ts'
import type { ScenarioEvidence } from './evidence.ts'

const WORST_FIRST = Object.keys(OUTCOMES)

/** What a run through a scenario comes to; `lasting` are the names that end users have in every run. */
export function scenarioEvidence({ scenario, report, end }: Run, lasting: ReadonlySet<string>): ScenarioEvidence {
  return {
    name: scenario?.name ?? '',
    verdict: report.verdict,
    end: endInAWord(end),
    may_fail: mayFail(scenario),
    operations: operationsOf(report, lasting),
  }
}

function operationsOf({ operations }: Run['report'], lasting: ReadonlySet<string>): ScenarioEvidence['operations'] {
  const notable = operations
    .filter(({ level }) => level !== 'ok')
    .map(({ type, external_id: name, outcome, level }) => {
      return { type, external_id: name !== null && lasting.has(name) ? name : null, outcome, level }
    })
  return [...grouped(notable, (one) => JSON.stringify(one)).values()]
    .flatMap(([first, ...others]) => (first ? [{ ...first, count: others.length + 1 }] : []))
    .sort((a, b) => WORST_FIRST.indexOf(a.outcome) - WORST_FIRST.indexOf(b.outcome) || (nameOf(a) < nameOf(b) ? -1 : 1))
}

function nameOf(operation: ScenarioEvidence['operations'][number]): string {
  return JSON.stringify([operation.external_id, operation.type, operation.level])
}
