import type { SandboxClock } from '../domain/clock.ts'
import { type ErrorCode, Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'
import type { Tenant } from '../domain/records.ts'
import type { FaultEngine } from '../faults/fault-engine.ts'
import type { ScenarioRunner } from '../scenarios/scenario-runner.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import { shorten } from '../support/shorten.ts'
import type {
  Assumption,
  AuditReport,
  ChainTime,
  Credentials,
  Fidelity,
  MintedToken,
  Readiness,
  TokenWish,
} from './contract.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Codes the route can answer with, beyond those that every route of its kind has: for the description. */
    errors?: readonly ErrorCode[]
    /** Of the control interface, but answered to everybody. */
    open?: boolean
  }
}

/** What the control interface can do, as arguments: it knows no other room. */
export interface ControlDeps {
  version: string
  clock: SandboxClock
  /** Resolves when every move of the clock so far is kept, if there is anything to keep it in. */
  clockKept(): Promise<void>
  /** Resolves when every chain has a block of the clock's present, or it is clear that one has not: in a few seconds. */
  chainsFollow(): Promise<ChainTime>
  faults: FaultEngine
  scenarios: ScenarioRunner
  shippedScenarios(): Promise<Scenario[]>
  controlToken: string | undefined
  /** Where the sandbox is: its own pages may use it. */
  origin(): Origin
  readiness(): Readiness
  credentials(): Promise<Credentials>
  fidelity(): Promise<Fidelity[]>
  assumptions(): Promise<Assumption[]>
  audit(): Promise<AuditReport>
  reset(): Promise<void>
  /** Ends the sandbox, connections of clients included. */
  stop(): Promise<void>
  tenants(): Promise<Tenant[]>
  /** Whatever was fetched from a `jwks_uri`, and the user tokens verified so far. */
  forgetUserKeys(): void
  mintUserToken(tenant: Tenant, wish: TokenWish & { external_id: string }): Promise<MintedToken>
  mintIdpToken(tenant: Tenant, wish: TokenWish): Promise<MintedToken>
}

/** The tenant of that slug. Throws Problem tenant_not_found. */
export async function requireTenant(deps: ControlDeps, slug: string): Promise<Tenant> {
  const tenant = (await deps.tenants()).find((candidate) => candidate.slug === slug)
  if (tenant) return tenant
  throw new Problem('tenant_not_found', { detail: `There is no tenant "${shorten(slug)}".`, param: 'slug' })
}
