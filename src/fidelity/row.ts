import type { ServiceSettings } from '../domain/service-settings.ts'

/** A test that holds a row: its file in the repository and its name as it is written there. */
export interface NamedTest {
  path: string
  name: string
}

/** A setting of the fixture file. */
export type SettingName = `service.${keyof ServiceSettings & string}` | 'options.confirmation_delay'

/** One rule of the specification, or one behaviour beside it, and how the sandbox stands to it. */
export interface FidelityRow {
  id: string
  /** exact: as the specification says. assumed: the sandbox chose. absent: the sandbox has nothing of the kind. */
  kind: 'exact' | 'assumed' | 'absent'
  /** The place in the specification (`Pagination 5`), or the open point. */
  about: string
  /** What holds here; of what is absent, what a client gets instead. */
  rule: string
  /** Who says so: `specification`, `chosen`, or the document it was taken from. */
  source: string
  setting?: SettingName
  test: NamedTest
}

/** What differs from the usual row of a section: `path` is the file of its test. */
interface Otherwise extends Partial<Pick<FidelityRow, 'kind' | 'setting'>> {
  path?: string
}

/** A rule of a section: its number or name there, the rule, the name of its test. */
type SpecifiedRule = [point: string, rule: string, test: string, otherwise?: Otherwise]

/** The rules of a section of the specification, exact unless said otherwise. The tests are in `path`. */
export function section(name: string, path: string, rules: readonly SpecifiedRule[]): FidelityRow[] {
  return rules.map(([point, rule, test, otherwise = {}]) => {
    const about = /^\d/.test(point) ? `${name} ${point}` : `${name}, ${point}`
    const { path: elsewhere, ...other } = otherwise
    const named = { path: elsewhere ?? path, name: test }
    return { id: idOf(about), kind: 'exact', about, rule, source: 'specification', test: named, ...other }
  })
}

/** What a choice has beside its id, open point, rule and test. */
interface Chosen {
  /** `chosen` unless said otherwise. */
  source?: string
  setting?: SettingName
}

/** Public reference documentation of live services of this shape, where it agrees with the choice. */
export const LIVE = { source: 'public documentation of live services' }

/** A choice of the sandbox where the specification is silent. */
export function assumed(id: string, about: string, rule: string, test: NamedTest, more: Chosen = {}): FidelityRow {
  return { id, kind: 'assumed', about, rule, source: 'chosen', ...more, test }
}

/** Where a test is, for the rows of its file. */
export const testsIn = (path: string) => (name: string) => ({ path, name })

function idOf(about: string): string {
  return about
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}
