import { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { SandboxClock } from '../domain/clock.ts'
import { type ErrorCode, invalidParameters, Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'
import type { Tenant } from '../domain/records.ts'
import type { FaultEngine } from '../faults/fault-engine.ts'
import type { CommandEnding } from '../oracle/outcome.ts'
import type { MoneySelection, TransactionSelection } from '../overview/contract.ts'
import type { EventStreams } from '../overview/event-stream.ts'
import type { Overview } from '../overview/overview.ts'
import type { ScenarioRunner } from '../scenarios/scenario-runner.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import { shorten } from '../support/foreign-text.ts'
import { suggest } from '../support/nearest.ts'
import type { ExchangeLog } from '../traffic/exchange-log.ts'
import type { Evidence, TakenAway } from '../verdict/finding.ts'
import type { ControlClient } from './client.ts'
import type {
  AnsweredConclusion,
  Assumption,
  AuditedMoney,
  AuditReport,
  ChainTime,
  Credentials,
  Fidelity,
  Guest,
  GuestWish,
  MintedToken,
  MoneyOverview,
  NamespaceSummary,
  NamespaceWish,
  Readiness,
  TokenChanges,
  TransactionDetail,
  TransactionPage,
  Usage,
} from './contract.ts'
import type { Sessions } from './sessions.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Codes that the route can answer with, beyond those of every route of its kind; for the description. */
    errors?: readonly ErrorCode[]
    /** True for a route of the control interface that needs no token. */
    open?: boolean
  }
  interface FastifyRequest {
    /** The namespace of a control request, once its caller is let in. */
    control: NamespaceControl | null
    /** Name of the namespace whose own control token the caller has; null for one who may do everything. */
    limitedTo: string | null
  }
}

/** Dependencies of the control interface. */
export interface ControlDeps {
  version: string
  shippedScenarios(): Promise<Scenario[]>
  /** The sandbox that a request came to. */
  sandboxOf(request: FastifyRequest): SandboxControl
}

/** Operations on a sandbox as a whole. They are arguments because the control room does not import the rooms behind them. */
export interface SandboxControl {
  /** Id of this sandbox. */
  instance: string
  controlToken: string | undefined
  /** Name of the namespace that has this text for its own control token; undefined if none has. */
  namespaceOfToken(token: string): string | undefined | Promise<string | undefined>
  /** Name of the namespace of that client; undefined for an unknown one. */
  namespaceOfClient(clientId: string): string | undefined | Promise<string | undefined>
  /** Address of the sandbox, whose own pages may use the interface. */
  origin: Origin
  /** Browsers that may use it without the token. */
  sessions: Sessions
  /** Milliseconds of real time since it began. */
  uptime(): number
  readiness(): Readiness
  /** Ends the sandbox, connections of clients included. */
  stop(): Promise<void>
  /** The namespace of that name, by default the one that every sandbox has. Throws Problem namespace_not_found. */
  namespace(name?: string): NamespaceControl | Promise<NamespaceControl>
  namespaces: NamespacesControl
  /** See `GET /_sandbox/usage`. */
  usage(reach: Reach): Usage | Promise<Usage>
  /** @returns true if another process of several has passed the request on to this one */
  isForwarded(request: object): boolean
  /** The same and more for Prometheus, in its text format. */
  metrics(): string | Promise<string>
  /** Makes a sandbox within this one. Throws Problem validation_error or sandbox_starting. */
  createGuest(wish: GuestWish): Promise<Guest>
  /** Makes a URL the origin that clients see. Throws Problem validation_error or control_token_required. */
  announce(url: string): void
  /**
   * A client of this interface, without the network, that acts for a caller from outside, and may do no more than the caller: for the default
   * namespace, or the one named.
   */
  clientOf(namespace: string | undefined, { limitedTo }: Pick<FastifyRequest, 'limitedTo'>): Promise<ControlClient>
}

/** How far a request reaches that concerns all namespaces. */
export interface Reach {
  /** True if it is for those of this process alone, since another process of several asks each. */
  hereAlone: boolean
}

/** Operations on the set of namespaces. */
export interface NamespacesControl {
  list(reach: Reach): NamespaceSummary[] | Promise<NamespaceSummary[]>
  /** The namespace of that name as the list shows it. Throws Problem namespace_not_found. */
  summary(name: string): NamespaceSummary | Promise<NamespaceSummary>
  /**
   * Resolves when the namespace can serve. `byOthers`: see {@link isFromOutside}. Throws Problem validation_error, namespace_exists,
   * namespace_not_found or too_many_namespaces.
   */
  create(wish: NamespaceWish, byOthers: boolean, reach: Reach): Promise<Credentials>
  /** Deletes a namespace; requests that it holds are answered 503. Throws Problem namespace_not_found or validation_error. */
  delete(name: string): Promise<void>
}

/** Operations on one namespace. */
export interface NamespaceControl {
  /** Seed of all its random choices. */
  seed: number
  clock: SandboxClock
  /** Saves the position to which the clock is about to move, if there is storage. Throws NotKeptError: the clock must then not move. */
  keepClock(state: SandboxClock['state']): Promise<void>
  /** Resolves when every move of the clock so far is saved, if there is storage. Throws NotKeptError. */
  clockKept(): Promise<void>
  /** Resolves within a few seconds: when every chain has a block of the clock's present time, or one of them cannot have it. */
  chainsFollow(): Promise<ChainTime>
  faults: FaultEngine
  /** Record of its clients' requests and the answers. */
  exchanges: ExchangeLog
  /** What people look at: operations, and their changes. */
  overview: Overview
  eventStreams: EventStreams
  /** @returns true if a transfer is in the ledger */
  isSettled(transactionId: string): Promise<boolean>
  /** Evidence for the verdict on its clients. */
  evidence(clients: Pick<Evidence, 'ended' | 'end'>): Promise<Evidence>
  /** Ends the run of a client: removes all faults, waits for transfers under way, and reads the evidence. */
  conclude(end: CommandEnding): Promise<AnsweredConclusion>
  /** All money by ledger and chain; no transfer may be under way. Throws ChainUnavailableError. */
  auditedMoney(): Promise<AuditedMoney>
  /** Counts of the faults cleared and the resets that requests from outside have made so far. */
  takenAway: TakenAway
  scenarios: ScenarioRunner
  readiness(): Readiness
  /** `firstRequests`: each tenant that can make a first deposit is shown with texts that make it. */
  credentials(wish: { firstRequests: boolean }): Promise<Credentials>
  fidelity(): Promise<Fidelity[]>
  assumptions(): Promise<Assumption[]>
  audit(): Promise<AuditReport>
  /** See `GET /_sandbox/money`. Throws Problem sandbox_starting. */
  money(selection: MoneySelection): Promise<MoneyOverview>
  /** See `GET /_sandbox/transactions`; undefined for an unknown chain. Throws Problem sandbox_starting. */
  transactions(selection: TransactionSelection): Promise<TransactionPage | undefined>
  /** Undefined for an unknown transaction. Throws ChainUnavailableError, and Problem sandbox_starting. */
  transaction(hash: string): Promise<TransactionDetail | undefined>
  reset(): Promise<void>
  /** The state as text. Throws ChainUnavailableError, and Problem sandbox_starting or service_unavailable. */
  snapshot(): Promise<string>
  tenants(): Promise<Tenant[]>
  /** Forgets the keys fetched from each `jwks_uri`, and the user tokens verified so far. */
  forgetUserKeys(): void
  mintUserToken(tenant: Tenant, wish: TokenChanges & { external_id: string }): Promise<MintedToken>
  mintIdpToken(tenant: Tenant, wish: TokenChanges): Promise<MintedToken>
}

/** The namespace of the request. Throws before the guard has run: that would be a mistake in the order of hooks. */
export function controlOf({ control }: FastifyRequest): NamespaceControl {
  if (!control) throw new Error('the namespace of the request is not known yet')
  return control
}

/** Header of requests by the command that runs the client, as `exec` does, in another process than the sandbox. */
export const RUNNER_HEADER = 'x-sandbox-runner'

/** Remote address of a request that this process sends to its own sandbox for somebody outside. */
export const FOR_OTHERS = 'for others'

/**
 * @returns true if a request came over the network, or is sent for one that did; false for this process's own, and for those of the command
 * that runs the client
 */
export function isFromOutside({ raw, headers }: FastifyRequest): boolean {
  if (headers[RUNNER_HEADER] !== undefined) return false
  return raw instanceof IncomingMessage || (raw as IncomingMessage).socket.remoteAddress === FOR_OTHERS
}

/** Returns the tenant of that slug. Throws Problem tenant_not_found. */
export async function requireTenant({ tenants }: NamespaceControl, slug: string): Promise<Tenant> {
  const tenant = (await tenants()).find((candidate) => candidate.slug === slug)
  if (tenant) return tenant
  throw new Problem('tenant_not_found', { detail: `There is no tenant "${shorten(slug)}".`, param: 'slug' })
}

/** Throws Problem validation_error if a filter names a tenant that does not exist: an empty list would look like the answer. */
export async function refuseUnknownTenant(slug: string | undefined, { tenants }: NamespaceControl): Promise<void> {
  if (slug === undefined) return
  const slugs = (await tenants()).map((tenant) => tenant.slug)
  if (slugs.includes(slug)) return
  const detail = `"${shorten(slug)}" is not the slug of a tenant; ${suggest(slug, slugs)}`
  throw invalidParameters([{ param: 'tenant', detail }])
}
