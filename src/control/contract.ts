import type { AuditReport } from '../domain/audit-report.ts'
import type { ActiveFault } from '../faults/active-rule.ts'
import type { FaultRule } from '../faults/fault-rule.ts'
import type { Assumption, Fidelity } from '../fidelity/manifest.ts'
import type { CommandEnding } from '../oracle/outcome.ts'
import type { ScenarioRun } from '../scenarios/scenario-runner.ts'
import type { Scenario, ScenarioFile } from '../scenarios/scenario-schema.ts'
import type { ExplainedExchange } from '../traffic/explain-exchange.ts'
import type { Har } from '../traffic/har.ts'
import type { ExchangeFilter, ExchangePage, ExchangeQuery } from '../traffic/page-exchanges.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import type { FindingId } from '../verdict/finding-ids.ts'
import type { Report } from '../verdict/report.ts'

/** `GET /_sandbox/health` */
export interface Health {
  status: 'ok'
  version: string
  uptime_seconds: number
}

/** `GET /_sandbox/ready`, 200 or 503. */
export interface Readiness {
  ready: boolean
  /** Why not. */
  reason?: string
}

/** One tenant of `GET /_sandbox/credentials`. */
export interface TenantCredentials {
  slug: string
  tenant_id: string
  client_id: string
  client_secret: string
  issuer: string
  /** Null when only the partner holds the private key. */
  kid: string | null
  private_key_pem: string | null
  end_users: string[]
}

/** `GET /_sandbox/credentials`, and the line `--json` prints. */
export interface Credentials {
  /** The namespace they are of. */
  namespace: string
  base_url: string
  auth_url: string
  control_url: string
  rpc_urls: Record<string, string>
  audience: string
  scope: string
  seed: number
  /** With a self-signed certificate: path, on the sandbox's machine, of the PEM file to trust. */
  ca_file?: string
  /** Bearer token of the control interface; absent when it needs none. */
  control_token?: string
  tenants: TenantCredentials[]
}

/** `POST /_sandbox/namespaces` */
export interface NamespaceWish {
  /** A label of DNS: `pull-request-7`. Default: one that nobody has. */
  name?: string
  /** As in a fixture file; what is left out is the sandbox's. Default: what it copies was made from. */
  fixtures?: Record<string, unknown>
  /** Every random choice derives from it. Default: that of what it copies. */
  seed?: number
  /** `0`, `2s`, `5s-30s`, `realistic`, or milliseconds. Default: that of what it copies. */
  confirmation_delay?: string | number
  /** ISO 8601 moment its clock starts at, frozen. Default: that of what it copies. */
  clock?: string
  /** The namespace to copy as it is now. Default: `default` as it was once it was seeded. */
  from?: string
}

/** One namespace of `GET /_sandbox/namespaces`. */
export interface NamespaceSummary extends Readiness {
  name: string
  /** Absent when what is kept of it is damaged. */
  seed?: number
  /** ISO 8601 UTC, wall-clock time. */
  created_at?: string
  /** Slugs of its tenants. */
  tenants: string[]
}

/** `GET /_sandbox/clock` */
export interface ClockState {
  /** ISO 8601 UTC with milliseconds. */
  now: string
  frozen: boolean
  offset_seconds: number
}

/** Whether the latest block of every chain has the clock's time, and if not, why: a chain may be down, or take long. */
export interface ChainTime {
  ok: boolean
  reason?: string
}

/** What moving the clock is answered with, once the chains have followed or cannot. */
export interface MovedClock extends ClockState {
  chains: ChainTime
}

/** `POST /_sandbox/clock`: one of advance and set, or freeze, or both. */
export interface ClockMove {
  /** A duration: `8d`. */
  advance?: string
  /** A later moment, ISO 8601. */
  set?: string
  freeze?: boolean
}

/** How a minted token is to differ from a good one. */
export interface TokenChanges {
  /** Replace claims; null removes one. */
  claims?: Record<string, unknown>
  /** Replace header members. */
  header?: Record<string, unknown>
  /** Seconds; negative for a token that has expired. */
  expires_in?: number
  /** `unknown`: a key nobody registered. */
  key?: 'registered' | 'unknown'
}

/** A minted token. */
export interface MintedToken {
  token: string
  /** ISO 8601 UTC, wall-clock time. */
  expires_at: string
}

/** `POST /_sandbox/stop` */
export interface Stopping {
  stopping: true
}

/** `GET /_sandbox/scenarios` */
export interface ScenarioList {
  /** Those that ship with the sandbox. */
  scenarios: { name: string; description: string }[]
  /** The one started last, unless it was stopped. */
  current: ScenarioRun | null
}

/** `POST /_sandbox/scenarios/stop` */
export interface StoppedScenario {
  /** The run as it ended; null when none was there. */
  stopped: ScenarioRun | null
}

/** `GET /_sandbox/report` */
export interface ReportWish {
  /** Findings that must be passed, beside those that the scenario expects. */
  require?: readonly FindingId[] | undefined
  /** Whether the client has ended: what it has not done so far, it will not do any more. Default: true. */
  ended?: boolean | undefined
  /** How the command ended that the client is part of: with code 0, otherwise, or not in time. Default: nobody knows. */
  end?: CommandEnding | undefined
}

export type {
  ActiveFault,
  Assumption,
  AuditReport,
  ExchangeFilter,
  ExchangePage,
  ExchangeQuery,
  ExplainedExchange,
  FaultRule,
  Fidelity,
  FindingId,
  Har,
  RecordedExchange,
  Report,
  Scenario,
  ScenarioFile,
  ScenarioRun,
}
