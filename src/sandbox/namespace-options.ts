import type { Checkpoint } from '../chain/history/checkpoint.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import type { DurationRange } from '../support/duration.ts'
import type { Logger } from '../support/logger.ts'
import type { Identity } from './build-identity.ts'
import type { NamespaceCopy } from './namespace-copy.ts'

/** What a namespace is opened with. */
export interface NamespaceOptions {
  name: string
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
  /** Milliseconds without use after which its chains rest; undefined: never. */
  idleMs?: number | undefined
  identity: Identity
  /** What embedded chains begin with: one object for all namespaces, since it is large. */
  embedded: Promise<Checkpoint>
  /** What a request must know to bring a fault along; undefined when anybody may. */
  controlToken: string | undefined
  log: Logger
}
