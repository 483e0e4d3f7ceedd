import type { ServiceSettings } from '../domain/service-settings.ts'

/** The test that holds a row: the path of its file in the repository, and its name as written there. */
export interface NamedTest {
  path: string
  name: string
}

/** A setting of the fixture file. */
export type SettingName = `service.${keyof ServiceSettings & string}` | 'options.confirmation_delay'

/** One rule of the specification, or one behaviour that it does not mention, and how the sandbox complies with it. */
export interface FidelityRow {
  id: string
  /** exact: as specified. assumed: the sandbox chose. absent: the sandbox does not have it. */
  kind: 'exact' | 'assumed' | 'absent'
  /** The place in the specification (`Pagination 5`), or the open point. */
  about: string
  /** The rule in force; for an absent feature, the answer that a client gets instead. */
  rule: string
  /** Source of the rule: `specification`, `chosen`, or the name of a document. */
  source: string
  setting?: SettingName
  test: NamedTest
}

/** Deviations from the usual row of a section: `path` is the file of its test. */
interface Otherwise extends Partial<Pick<FidelityRow, 'kind' | 'setting'>> {
  path?: string
}

/** A rule of a section: its number or name there, the rule, the name of its test. */
type SpecifiedRule = [point: string, rule: string, test: string, otherwise?: Otherwise]

/** Rows of a section of the specification; their kind is exact by default. The tests are in `path`. */
export function section(name: string, path: string, rules: readonly SpecifiedRule[]): FidelityRow[] {
  return rules.map(([point, rule, test, otherwise = {}]) => {
    const about = /^\d/.test(point) ? `${name} ${point}` : `${name}, ${point}`
    const { path: elsewhere, ...other } = otherwise
    const named = { path: elsewhere ?? path, name: test }
    return { id: idOf(about), kind: 'exact', about, rule, source: 'specification', test: named, ...other }
  })
}

/** Optional parts of a choice. */
interface Chosen {
  /** Default: `chosen`. */
  source?: string
  setting?: SettingName
}

/** Public reference documentation of live services of this shape: the source of choices that agree with it. */
export const LIVE = { source: 'public documentation of live services' }

/** A choice of the sandbox where the specification is silent. */
export function assumed(id: string, about: string, rule: string, test: NamedTest, more: Chosen = {}): FidelityRow {
  return { id, kind: 'assumed', about, rule, source: 'chosen', ...more, test }
}

/** Names tests of one file. */
export const testsIn = (path: string) => (name: string) => ({ path, name })

function idOf(about: string): string {
  return about
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}
