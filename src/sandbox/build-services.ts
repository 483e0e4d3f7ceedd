import { IdpTokenVerifier } from '../auth/idp-token-verifier.ts'
import { UserKeys } from '../auth/user-keys.ts'
import { UserTokenVerifier } from '../auth/user-token-verifier.ts'
import { RpcChainObserver } from '../chain/rpc-chain-observer.ts'
import { audiencesOf } from '../domain/audiences.ts'
import { Audit } from '../domain/audit.ts'
import type { SandboxClock } from '../domain/clock.ts'
import { CursorCodec } from '../domain/cursor.ts'
import { EndUsers } from '../domain/end-users.ts'
import { Idempotency } from '../domain/idempotency.ts'
import { Ids } from '../domain/ids.ts'
import type { Origin } from '../domain/origin.ts'
import { Portfolios } from '../domain/portfolios.ts'
import type { Showing } from '../domain/records.ts'
import type { Service } from '../domain/service.ts'
import { Showings } from '../domain/showings.ts'
import { Transfers } from '../domain/transfers.ts'
import { FaultEngine } from '../faults/fault-engine.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { renderProblem } from '../http/problem.ts'
import { IdentityProvider } from '../identity/identity-provider.ts'
import { UnknownKey } from '../identity/unknown-key.ts'
import type { ResolvedOptions } from '../options.ts'
import { transferResponse } from '../partner-api/transfer-response.ts'
import { ScenarioRunner } from '../scenarios/scenario-runner.ts'
import { createStore } from '../store/ledger-store.ts'
import type { Logger } from '../support/logger.ts'
import { SeededRandom } from '../support/random.ts'
import { PendingChains } from './pending-chains.ts'
import type { Persistence } from './persistence.ts'

/** Every part of a sandbox but its HTTP interface, wired together. */
export type Services = Awaited<ReturnType<typeof buildServices>>

/** What the parts are built from. */
export interface PartsContext {
  fixture: Fixture
  options: ResolvedOptions
  /** Every random choice derives from it. */
  seed: number
  /** Of a sandbox with a data directory. */
  persistence: Persistence | undefined
  clock: SandboxClock
  log: Logger
  /** Asked only once the server listens. */
  origin(): Origin
}

/** Builds the parts in the order of their dependencies. */
export async function buildServices({ fixture, options, seed, persistence, clock, log, origin }: PartsContext) {
  const { settings } = fixture
  persistence?.follow(clock, log)
  const random = new SeededRandom(seed, persistence?.run)
  const ids = new Ids({ clock, random })
  const store = await createStore(await persistence?.timedJournal('ledger'))
  const chains = new PendingChains()
  // Of the first run in every run: a cursor outlives restarts.
  const secret = new SeededRandom(seed).bytes('cursor-secret', 32)
  const cursors = new CursorCodec({ secret, clock })

  const common = { store, chains, clock, ids, settings, log }
  const portfolios = new Portfolios(common)
  const showings = await Showings.open({ ...common, journal: await persistence?.journal<Showing[]>('showings') })
  const endUsers = new EndUsers(common)
  const idempotency = new Idempotency({
    ...common,
    render: (problem, claim) => renderProblem(problem, claim, settings),
  })
  const { confirmationDelay } = options
  const respond = transferResponse(settings)
  const transfers = new Transfers({
    ...common,
    ...{ random, portfolios, showings, idempotency, confirmationDelay, respond },
  })
  const observer = new RpcChainObserver({ chains, protocols: settings.protocols })
  const audit = new Audit({ store, observer, portfolios, transfers, clock, settings })

  const tokens = tokenParts(fixture, { clock, log, origin })
  const service: Service = {
    settings,
    store,
    chains,
    clock,
    cursors,
    idempotency,
    endUsers,
    portfolios,
    showings,
    transfers,
    verifyUserToken: (token, tenant) => tokens.userTokens.verify(token, tenant),
  }
  const pools = fixture.tenants.flatMap((tenant) => tenant.pools)
  const faults = new FaultEngine({ clock, random, chains, pools, log })
  const scenarios = new ScenarioRunner({ faults, clock, log, seed })
  return {
    service,
    audit,
    faults,
    scenarios,
    random,
    ids,
    chains,
    ...tokens,
  }
}

/** What issues tokens, and what verifies them. */
function tokenParts(
  { identity_provider, settings, tenants }: Fixture,
  { clock, log, origin }: { clock: SandboxClock } & Pick<PartsContext, 'log' | 'origin'>,
) {
  const unknownKey = new UnknownKey()
  const identityProvider = new IdentityProvider({
    privateKeyPem: identity_provider.private_key_pem,
    kid: identity_provider.kid,
    origin,
    audience: settings.audience,
    lifetime: settings.idp_token_lifetime,
    clock,
    unknownKey,
  })
  const idpTokens = new IdpTokenVerifier({
    jwks: identityProvider.jwks(),
    audiences: audiencesOf(settings),
    origin,
    clock,
  })
  const keys = new UserKeys({ clock, logger: log })
  const userTokens = new UserTokenVerifier({
    audience: settings.audience,
    leeway: settings.user_token_leeway,
    issuers: settings.user_token_codes === 'several' ? new Set(tenants.map(({ tenant }) => tenant.issuer)) : undefined,
    clock,
    keys,
  })
  return { identityProvider, idpTokens, userTokens, unknownKey }
}
