import { previewOf } from '../faults/active-rule.ts'
import { describeKinds } from '../faults/describe-kinds.ts'
import { checkRule, type FaultRule } from '../faults/fault-rule.ts'
import { shippedScenarios } from '../scenarios/find-scenario.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'

/** The kinds of faults. */
export function faultKinds(): CatalogueEntry[] {
  return describeKinds().map(({ kind, explanation, phases, operations, with: parameters }) => ({
    id: kind,
    is: 'fault kind',
    says: [
      ['does', explanation],
      ['phases', `${phases.join(', ')} (the first is the default)`],
      ['operations', operations.join(', ')],
      ['parameters', Object.keys(parameters.properties as object).join(', ') || 'none'],
      ['try it', `yield-sandbox exec --fault ${kind} -- <your test command>`],
      ['all about it', 'docs/faults.md'],
    ],
  }))
}

/** The shipped scenarios. */
export async function scenarios(): Promise<CatalogueEntry[]> {
  return (await shippedScenarios()).map(({ name, description, faults, expect }) => ({
    id: name,
    is: 'scenario',
    says: [
      ['goes wrong', description],
      ...faults.map((rule): [string, string] => ['fault', explanationOf(rule)]),
      ...(expect.findings ?? []).map((finding): [string, string] => ['asks for', finding]),
      ['try it', `yield-sandbox exec --scenario ${name} -- <your test command>`],
      ['all about it', 'docs/scenarios.md'],
    ],
  }))
}

function explanationOf(rule: FaultRule): string {
  const checked = checkRule(rule, rule.match?.tenant === undefined ? [] : [rule.match.tenant])
  return Array.isArray(checked) ? rule.kind : `${rule.kind}: ${previewOf(checked, rule).explanation}`
}
