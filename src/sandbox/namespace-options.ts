import type { Fixture } from '../fixtures/fixture.ts'
import type { DurationRange } from '../support/duration.ts'
import type { NamespaceCopy } from './namespace-copy.ts'
import type { Surroundings } from './surroundings.ts'

/** What a namespace is opened with. */
export interface NamespaceOptions {
  name: string
  /** Tells it from every other one of its name; undefined for the default one, whose name nobody else has. */
  life: string | undefined
  /** ISO 8601 UTC, wall-clock time; default: now. */
  created_at?: string
  fixture: Fixture
  /** What is asked for; undefined for any. */
  seed: number | undefined
  /** Milliseconds since the Unix epoch at which its clock starts, frozen; undefined for real time. */
  clockStart: number | undefined
  confirmationDelay: DurationRange
  /** Where it is kept; undefined when it ends with the process. */
  dataDir: string | undefined
  /** What it begins with; undefined for whatever is kept, or the fixture. */
  begin?: NamespaceCopy | undefined
  /** Milliseconds without use after which its chains rest; undefined: never, and they start at once. */
  idleMs?: number | undefined
  surroundings: Surroundings
}
