import { parseMoment } from '../support/moment.ts'
import { FileError } from '../yaml-file/file-error.ts'
import { IssueList } from '../yaml-file/issue-list.ts'
import { readYaml } from '../yaml-file/read-yaml.ts'
import { type BaselineEntry, BaselineSchema } from './baseline-schema.ts'

const FILE_LIMIT = 1024 * 1024
const TERMS = { what: 'a baseline', docs: 'docs/exec.md', sample: 'the example in docs/exec.md' }

/** A baseline that cannot be used. Its message has one line per issue. */
export class BaselineError extends FileError {
  override readonly name = 'BaselineError'
}

/** Reads and checks a baseline file (YAML or JSON). Throws {@link BaselineError} naming everything that is wrong. */
export async function loadBaseline(file: string): Promise<BaselineEntry[]> {
  // Loaded when somebody asks: they are long, and most runs have no baseline.
  const { FINDINGS } = await import('../verdict/findings/index.ts')
  const critical = new Set<string>(FINDINGS.filter(({ impact }) => impact === 'critical').map(({ id }) => id))
  try {
    const source = await readYaml(file, TERMS, FILE_LIMIT)
    const issues = new IssueList(source)
    issues.addMismatches(BaselineSchema)
    issues.throwIfAny()
    const entries = source.data as BaselineEntry[]
    issues.addDuplicates(
      entries.map(({ id }) => id),
      (i) => [i, 'id'],
    )
    for (const [i, { id, reason, expires }] of entries.entries()) {
      if (critical.has(id) && !reason?.trim()) {
        issues.add([i], `"${id}" is of critical impact and has no reason`, 'add reason: and say why it is accepted')
      }
      if (expires !== undefined && Number.isNaN(lastMoment(expires))) {
        issues.add([i, 'expires'], `"${expires}" is no day of the calendar`, 'write it like "2027-01-31"')
      }
    }
    issues.throwIfAny()
    return entries
  } catch (error) {
    throw error instanceof FileError ? new BaselineError(error.issues) : error
  }
}

/** The end of a day in UTC, milliseconds since the Unix epoch; NaN for a day that is none. */
export function lastMoment(day: string): number {
  return parseMoment(`${day}T00:00:00Z`) + 24 * 60 * 60 * 1000 - 1
}
