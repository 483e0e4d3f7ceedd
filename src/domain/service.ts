import type { SandboxClock } from './clock.ts'
import type { EndUsers } from './end-users.ts'
import type { Idempotency } from './idempotency.ts'
import type { CursorCodec } from './pagination.ts'
import type { Portfolios } from './portfolios.ts'
import type { Chains } from './ports/chain.ts'
import type { Store } from './ports/store.ts'
import type { Tenant } from './records.ts'
import type { ServiceSettings } from './service-settings.ts'
import type { Showings } from './showings.ts'
import type { Transfers } from './transfers.ts'

/** Parts of the service that endpoints use. */
export interface Service {
  settings: ServiceSettings
  store: Store
  chains: Chains
  clock: SandboxClock
  cursors: CursorCodec
  idempotency: Idempotency
  endUsers: EndUsers
  portfolios: Portfolios
  showings: Showings
  transfers: Transfers
  /** Throws Problem invalid_user_token. */
  verifyUserToken(token: string | undefined, tenant: Tenant): Promise<{ sub: string }>
}
