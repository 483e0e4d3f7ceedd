import type { Checkpoint } from '../chain/history/checkpoint.ts'
import type { Origin } from '../domain/origin.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Identity } from './build-identity.ts'

/** What of the sandbox all its namespaces share. */
export interface Surroundings {
  identity: Identity
  /** What embedded chains begin with. */
  embedded: Promise<Checkpoint>
  options: Pick<ResolvedOptions, 'controlToken' | 'namespaceIdle'>
  /** Known once the server listens. */
  origin(): Origin
  /** What clients have to trust; undefined without a self-signed certificate. */
  caFile(): string | undefined
}
