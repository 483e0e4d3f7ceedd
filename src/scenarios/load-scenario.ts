import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { checkRule } from '../faults/fault-rule.ts'
import { shorten } from '../support/foreign-text.ts'
import type { Path } from '../support/issue.ts'
import { jsonExcess } from '../support/json.ts'
import { parseDuration, parseMoment } from '../support/quantities.ts'
import { objectionTo } from '../verdict/finding-ids.ts'
import { FileError } from '../yaml-file/file-error.ts'
import { IssueList } from '../yaml-file/issue-list.ts'
import { readYaml, YamlSource } from '../yaml-file/yaml-source.ts'
import { type Scenario, type ScenarioClockMove, type ScenarioFile, ScenarioSchema } from './scenario-schema.ts'

const FILE_LIMIT = 1024 * 1024
const DOCS = 'docs/scenarios.md'
/** Maximum number of values of a scenario that came as data: reading more as YAML would block other requests too long. */
const MAX_VALUES = 2000
const TERMS = { what: 'a scenario', docs: DOCS, sample: 'one of the shipped scenarios' }

/** Reads and checks a scenario file (YAML or JSON). Throws {@link ScenarioError} naming everything that is wrong. */
export function loadScenario(file: string): Promise<Scenario> {
  return inOwnWords(async () => scenarioOf(await readYaml(file, TERMS, FILE_LIMIT)))
}

/** Checks a scenario that came as data. Throws {@link ScenarioError}; its issues name fields, their line numbers mean nothing. */
export function readScenario(data: unknown): Promise<Scenario> {
  return inOwnWords(() => {
    const text = JSON.stringify(data ?? null)
    const excess = jsonExcess(text, MAX_VALUES)
    if (excess === undefined) return scenarioOf(new YamlSource('body', text, TERMS))
    throw new FileError([{ file: 'body', path: '', message: excess, fix: `a scenario needs far fewer; see ${DOCS}` }])
  })
}

/** Loads every scenario of a folder, by name. Throws {@link ScenarioError}. */
export async function loadScenarios(directory: string): Promise<Scenario[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.yaml')).sort()
  return Promise.all(files.map((file) => loadScenario(path.join(directory, file))))
}

async function inOwnWords<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof FileError ? new ScenarioError(error.issues) : error
  }
}

function scenarioOf(source: YamlSource): Scenario {
  const issues = new IssueList(source)
  issues.addMismatches(ScenarioSchema)
  issues.throwIfAny()
  const { name, description, faults = [], clock = [], expect = {} } = source.data as ScenarioFile
  for (const [i, rule] of faults.entries()) checkFault(rule, ['faults', i], issues)
  for (const [i, move] of clock.entries()) checkMove(move, ['clock', i], issues)
  for (const [i, id] of (expect.findings ?? []).entries()) checkFinding(id, ['expect', 'findings', i], issues)
  issues.throwIfAny()
  return { name, description, faults, clock, expect }
}

/** Accepts any tenant: only the sandbox in which the scenario starts knows its tenants. */
function checkFault(rule: unknown, at: Path, issues: IssueList): void {
  const tenant = valueAt(rule, ['match', 'tenant'])
  const result = checkRule(rule, typeof tenant === 'string' ? [tenant] : [])
  if (Array.isArray(result)) issues.addAll(result, at)
}

function checkMove(move: ScenarioClockMove, at: Path, issues: IssueList): void {
  if ('advance' in move) {
    try {
      parseDuration(move.advance)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      issues.add([...at, 'advance'], `"${shorten(move.advance)}" is not a duration`, 'write 250ms, 2s, 10m, 24h or 8d')
    }
  } else if ('set' in move && !isMoment(move.set)) {
    issues.add([...at, 'set'], `"${shorten(move.set)}" is not a moment`, 'write it like "2030-01-01T00:00:00Z"')
  }
}

function checkFinding(id: string, at: Path, issues: IssueList): void {
  const objection = objectionTo(id)
  if (objection) issues.add(at, objection.message, objection.fix)
}

function isMoment(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/.test(text) && !Number.isNaN(parseMoment(text))
}

function valueAt(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (here, step) => (typeof here === 'object' && here !== null ? Reflect.get(here, step) : undefined),
    value,
  )
}

/** A scenario that cannot be used. Its message has one line per issue. */
export class ScenarioError extends FileError {
  override readonly name = 'ScenarioError'
  readonly code = 'invalid_scenario'
}
