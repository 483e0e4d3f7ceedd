import type { Guest, GuestWish } from '../control/contract.ts'
import { FOR_OTHERS, type NamespaceControl, type SandboxControl } from '../control/control-parts.ts'
import type { Sessions } from '../control/sessions.ts'
import { Problem } from '../domain/errors.ts'
import { isLoopback } from '../domain/origin.ts'
import { isForwarded } from '../fleet/forwarded-header.ts'
import { refuseSocket } from '../http/client-error.ts'
import type { EnteredSandbox } from '../http/entrance.ts'
import { refuseUnlessReady } from '../http/pipeline.ts'
import type { RpcSandbox } from '../http/rpc-proxy.ts'
import type { IdentityProvider } from '../identity/identity-provider.ts'
import { mintUserToken } from '../identity/mint-user-token.ts'
import { publicOrigin } from '../option-values.ts'
import { UnreadableTextError } from '../support/issue.ts'
import { concludeRun } from './conclusion.ts'
import { credentialsOf, withFirstRequests } from './credentials.ts'
import { evidenceOf } from './evidence-of.ts'
import type { FleetNamespaces } from './fleet-namespaces.ts'
import { Lead } from './lead.ts'
import { auditedMoneyOf } from './money-of.ts'
import type { Namespace } from './namespace.ts'
import type { Namespaces } from './namespaces.ts'
import { moneyOf, transactionOf, transactionsOf } from './overviews.ts'
import type { Surroundings } from './surroundings.ts'
import { usageOf } from './usage.ts'

/** A sandbox as an application serves it: everything that routes need to know of it. */
export interface ServedSandbox extends EnteredSandbox {
  rpc: RpcSandbox
  control: SandboxControl
  identityProvider: IdentityProvider
  /** Returns the tenant that an address names, as it is to be written. Throws Problem while the tenants are not known yet. */
  tenantInAddress(written: string): Promise<string | undefined>
}

/** Dependencies of {@link servedSandbox}. */
export interface SandboxParts {
  namespaces: Namespaces
  /** Those of all processes, in one of several. */
  fleet: FleetNamespaces | undefined
  surroundings: Surroundings
  sessions: Sessions
  /** Id of this sandbox. */
  instance: string
  /** Makes a sandbox within this one. */
  createGuest(wish: GuestWish): Promise<Guest>
  /** Ends the sandbox. */
  stop(): Promise<void>
}

/** Sends requests to a sandbox from its own process; `remoteAddress`: who they come from. */
export type FetchFrom = (remoteAddress: string) => typeof fetch

/** Describes a sandbox for an application that serves it. */
export function servedSandbox(parts: SandboxParts, fetchFrom: FetchFrom): ServedSandbox {
  const { namespaces, surroundings } = parts
  const { options, origin, identity } = surroundings
  const lead = new Lead(namespaces, identity.idpTokens)
  return {
    get fallback() {
      return namespaces.fallback
    },
    namespaceOf: lead.byHead,
    namespaceOfClient: lead.byClient,
    controlToken: options.controlToken,
    origin,
    rpc: {
      namespace: async (name) => (await namespaces.get(name)).http,
      local: options.local,
      origin,
      blockTime: options.blockTime,
      refuseSocket: (socket, error) => refuseSocket(socket, error, lead.ids, namespaces.base.fixture.settings),
    },
    control: sandboxControl(parts, fetchFrom),
    identityProvider: identity.identityProvider,
    tenantInAddress: async (written) => {
      refuseUnlessReady(namespaces.notReady())
      return namespaces.tenantInAddress(written)
    },
  }
}

/** Operations on a sandbox for the control interface. */
function sandboxControl(
  { namespaces, fleet, surroundings, sessions, instance, createGuest, stop }: SandboxParts,
  fetchFrom: FetchFrom,
): SandboxControl {
  const { origin, options } = surroundings
  const { clock } = namespaces.fallback.service
  const usageDeps = { namespaces, surroundings, clock, began: clock.wallNow() }
  return {
    instance,
    controlToken: options.controlToken,
    namespaceOfToken: (token) => namespaces.ofControlToken(token),
    namespaceOfClient: (clientId) => namespaces.nameOfClient(clientId),
    origin,
    sessions,
    uptime: () => clock.wallNow() - usageDeps.began,
    readiness: () => namespaces.readiness(),
    stop,
    namespace: async (name) => controlNamespace(await namespaces.get(name), namespaces, surroundings),
    namespaces: fleet ?? namespaces,
    usage: (reach) => (fleet ? fleet.usage(usageOf(usageDeps), reach) : usageOf(usageDeps)),
    isForwarded,
    metrics: async () => (await import('./metrics.ts')).metricsOf(usageDeps), // most runs never need it
    createGuest,
    announce: (url) => (fleet ? refuseToAnnounce() : announce(url, surroundings)),
    clientOf: async (namespace, { limitedTo }) => {
      const { ControlClient } = await import('../control/client.ts')
      const own = limitedTo === null ? undefined : (await namespaces.get(limitedTo)).controlToken
      const fetch = fetchFrom(FOR_OTHERS)
      return new ControlClient(origin.url, { controlToken: own ?? options.controlToken, fetch, namespace })
    },
  }
}

/**
 * Gives the sandbox another origin. One that is not loopback is for others than this machine, who must have a control token. Throws Problem.
 */
function announce(text: string, { origin, options }: Surroundings): void {
  const url = originIn(text)
  if (options.controlToken === undefined && !isLoopback(new URL(url).hostname)) {
    const detail =
      'Others than this machine would reach it: start it with --control-token, or with --public-url, which makes one.'
    throw new Problem('validation_error', { detail, param: 'public_url' })
  }
  origin.announce(url)
}

/** Each process would have another one. Throws Problem. */
function refuseToAnnounce(): never {
  const detail = 'Several processes have one origin: start all of them with the same --public-url.'
  throw new Problem('validation_error', { detail, param: 'public_url' })
}

function originIn(text: string): string {
  try {
    return publicOrigin(text)
  } catch (error) {
    if (!(error instanceof UnreadableTextError)) throw error
    throw new Problem('validation_error', { detail: `public_url ${error.message}.`, param: 'public_url' })
  }
}

/** Milliseconds to wait for a chain that does not answer when the money is read. */
const OUTAGE_MS = 60_000

/** Loaded at the first request: it is long, and most runs never need it. */
const manifest = () => import('../fidelity/manifest.ts')

/** Operations on a namespace for the control interface. */
function controlNamespace(namespace: Namespace, namespaces: Namespaces, around: Surroundings): NamespaceControl {
  const { service, chains, exchanges, faults, scenarios, userTokens } = namespace.services
  const { settings, clock } = service
  const { identityProvider, unknownKey } = around.identity
  const active = { service: settings, confirmation_delay: namespace.confirmationDelay }
  return {
    seed: namespace.seed,
    clock,
    keepClock: (state) => namespace.keepClock(state),
    clockKept: () => namespace.clockKept(),
    chainsFollow: () => chains.follow(clock),
    faults,
    exchanges,
    overview: namespace.overview,
    eventStreams: namespace.eventStreams,
    isSettled: async (id) => (await service.store.get('transactions', id)) !== undefined,
    conclude: async (end) => ({
      ...(await concludeRun(namespace, end)),
      other_namespaces: namespaces.madeByOthers,
    }),
    auditedMoney: () => auditedMoneyOf(namespace, OUTAGE_MS),
    evidence: (clients) => evidenceOf(namespace, clients),
    takenAway: namespace.takenAway,
    scenarios,
    readiness: () => namespace.readiness(),
    credentials: async ({ firstRequests }) => {
      const credentials = await credentialsOf(namespace, around)
      return firstRequests ? withFirstRequests(credentials, namespace) : credentials
    },
    fidelity: async () => (await manifest()).fidelity(active),
    assumptions: async () => (await manifest()).assumptions(active),
    audit: () => namespace.audit(),
    money: (selection) => moneyOf(namespace, selection),
    transactions: (selection) => transactionsOf(namespace, selection),
    transaction: (hash) => transactionOf(namespace, hash),
    reset: () => namespace.reset(),
    snapshot: async () => (await import('./take-snapshot.ts')).takeSnapshot(namespace),
    tenants: () => namespace.tenants(),
    forgetUserKeys: () => userTokens.clear(),
    mintUserToken: (tenant, wish) => mintUserToken(tenant, wish, { audience: settings.audience, clock, unknownKey }),
    mintIdpToken: async (tenant, { expires_in, ...wish }) => {
      const { access_token, expires_in: lifetime } = await identityProvider.issueToken(tenant, {
        ...wish,
        lifetime: expires_in,
      })
      return { token: access_token, expires_at: new Date(clock.wallNow() + lifetime * 1000).toISOString() }
    },
  }
}
