import { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { SandboxClock } from '../domain/clock.ts'
import { type ErrorCode, Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'
import type { Tenant } from '../domain/records.ts'
import type { FaultEngine } from '../faults/fault-engine.ts'
import type { ScenarioRunner } from '../scenarios/scenario-runner.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import { shorten } from '../support/foreign-text.ts'
import type { ExchangeLog } from '../traffic/exchange-log.ts'
import type { Evidence, TakenAway } from '../verdict/finding.ts'
import type {
  Assumption,
  AuditReport,
  ChainTime,
  Credentials,
  Fidelity,
  MintedToken,
  NamespaceSummary,
  NamespaceWish,
  Readiness,
  TokenChanges,
} from './contract.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Codes the route can answer with, beyond those that every route of its kind has: for the description. */
    errors?: readonly ErrorCode[]
    /** Of the control interface, but answered to everybody. */
    open?: boolean
  }
  interface FastifyRequest {
    /** The namespace that a control request is about, once its caller is let in. */
    control: NamespaceControl | null
  }
}

/** What the control interface can do with the sandbox as a whole, as arguments: it knows no other room. */
export interface ControlDeps {
  version: string
  controlToken: string | undefined
  /** Where the sandbox is: its own pages may use it. */
  origin: Origin
  /** Milliseconds of real time since the Unix epoch. */
  wallNow(): number
  readiness(): Readiness
  shippedScenarios(): Promise<Scenario[]>
  /** Ends the sandbox, connections of clients included. */
  stop(): Promise<void>
  /** The namespace of that name, by default the one that every sandbox has. Throws Problem namespace_not_found. */
  namespace(name?: string): NamespaceControl | Promise<NamespaceControl>
  namespaces: NamespacesControl
}

/** What the control interface can do with namespaces as such. */
export interface NamespacesControl {
  list(): NamespaceSummary[]
  /** Resolves when it can serve. `byOthers`: see {@link isFromOutside}. Throws Problem validation_error, namespace_exists, namespace_not_found or too_many_namespaces. */
  create(wish: NamespaceWish, byOthers: boolean): Promise<Credentials>
  /** Ends it; what it holds is answered 503. Throws Problem namespace_not_found or validation_error. */
  delete(name: string): Promise<void>
}

/** What the control interface can do with a namespace. */
export interface NamespaceControl {
  /** What all its randomness comes from. */
  seed: number
  clock: SandboxClock
  /** Keeps where the clock is about to stand, if there is anything to keep it in. Throws NotKeptError: then nothing may move. */
  keepClock(state: SandboxClock['state']): Promise<void>
  /** Resolves when every move of the clock so far is kept, if there is anything to keep it in. Throws NotKeptError. */
  clockKept(): Promise<void>
  /** Resolves when every chain has a block of the clock's present, or it is clear that one has not: in a few seconds. */
  chainsFollow(): Promise<ChainTime>
  faults: FaultEngine
  /** What its clients sent and got. */
  exchanges: ExchangeLog
  /** Whether a transfer is in the ledger. */
  isSettled(transactionId: string): Promise<boolean>
  /** What the verdict on its clients is drawn from. */
  evidence(clients: Pick<Evidence, 'ended' | 'end'>): Promise<Evidence>
  /** What requests from outside have taken away so far. */
  takenAway: TakenAway
  scenarios: ScenarioRunner
  readiness(): Readiness
  credentials(): Promise<Credentials>
  fidelity(): Promise<Fidelity[]>
  assumptions(): Promise<Assumption[]>
  audit(): Promise<AuditReport>
  reset(): Promise<void>
  tenants(): Promise<Tenant[]>
  /** Whatever was fetched from a `jwks_uri`, and the user tokens verified so far. */
  forgetUserKeys(): void
  mintUserToken(tenant: Tenant, wish: TokenChanges & { external_id: string }): Promise<MintedToken>
  mintIdpToken(tenant: Tenant, wish: TokenChanges): Promise<MintedToken>
}

/** The namespace that the request is about. Throws when asked before the guard: a mistake in the order of hooks. */
export function controlOf({ control }: FastifyRequest): NamespaceControl {
  if (!control) throw new Error('the namespace of the request is not known yet')
  return control
}

/** @returns true if a request came over the network, and false for what this process asks of its own sandbox */
export function isFromOutside({ raw }: FastifyRequest): boolean {
  return raw instanceof IncomingMessage
}

/** The tenant of that slug. Throws Problem tenant_not_found. */
export async function requireTenant({ tenants }: NamespaceControl, slug: string): Promise<Tenant> {
  const tenant = (await tenants()).find((candidate) => candidate.slug === slug)
  if (tenant) return tenant
  throw new Problem('tenant_not_found', { detail: `There is no tenant "${shorten(slug)}".`, param: 'slug' })
}
