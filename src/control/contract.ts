import type { AuditReport } from '../domain/audit-report.ts'
import type { Money } from '../domain/money.ts'
import type { ActiveFault, FaultPreview } from '../faults/active-rule.ts'
import type { FaultRule } from '../faults/fault-rule.ts'
import type { Assumption, Fidelity } from '../fidelity/manifest.ts'
import type { CommandEnding, Level, OperationOutcome } from '../oracle/outcome.ts'
import type { ScenarioRun } from '../scenarios/scenario-runner.ts'
import type { Scenario, ScenarioFile } from '../scenarios/scenario-schema.ts'
import type { ExplainedExchange } from '../traffic/explain-exchange.ts'
import type { Har } from '../traffic/har.ts'
import type { NextExchange, NextExchangeQuery } from '../traffic/next-exchange.ts'
import type { ExchangeFilter, ExchangePage, ExchangeQuery } from '../traffic/page-exchanges.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import type { CountedOutcome } from '../traffic/request-counts.ts'
import type { Evidence } from '../verdict/finding.ts'
import type { FindingId } from '../verdict/finding-ids.ts'
import type { ConfigurationCause, ExchangeLine, MergedReport, Report, ReportedFinding } from '../verdict/report.ts'

/** `GET /_sandbox/health` */
export interface Health {
  status: 'ok'
  version: string
  /** Id of this process's sandbox: another one, on the same port later, has another id. */
  instance: string
  uptime_seconds: number
}

/** `GET /_sandbox/ready`, 200 or 503. */
export interface Readiness {
  ready: boolean
  /** Reason why it is not ready. */
  reason?: string
}

/** One tenant of `GET /_sandbox/credentials`. */
export interface TenantCredentials {
  slug: string
  tenant_id: string
  /** A UUID: what Microsoft's clients know as its tenant, in `/{directory_id}/oauth2/v2.0/token`. */
  directory_id: string
  client_id: string
  client_secret: string
  issuer: string
  /** Null if only the partner holds the private key. */
  kid: string | null
  private_key_pem: string | null
  end_users: string[]
  /** With `?first_request=1`, if the tenant can make one: a first deposit, to be pasted as it is. */
  first_request?: { curl: string; typescript: string; python: string }
}

/** `GET /_sandbox/credentials`, and the line that `--json` prints. */
export interface Credentials {
  /** The namespace of these credentials. */
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
  /** Bearer token of the control interface, absent if it needs none: of a namespace its own, which opens that namespace alone. */
  control_token?: string
  tenants: TenantCredentials[]
}

/** `POST /_sandbox/namespaces` */
export interface NamespaceWish {
  /** A DNS label: `pull-request-7`. Default: a generated name. */
  name?: string
  /** As in a fixture file; parts left out are the sandbox's. Default: the fixtures of the namespace that it copies. */
  fixtures?: Record<string, unknown>
  /** Seed of every random choice. Default: that of the namespace that it copies. */
  seed?: number
  /** `0`, `2s`, `5s-30s`, `realistic`, or milliseconds. Default: that of the namespace that it copies. */
  confirmation_delay?: string | number
  /** ISO 8601 moment at which its clock starts, frozen. Default: that of the namespace that it copies. */
  clock?: string
  /** The namespace to copy in its present state. Default: `default` in its state after seeding. */
  from?: string
  /** A state that `POST /_sandbox/snapshot` gave, as text: ledger, chains, clock, seed and fixtures are those of the snapshot. */
  snapshot?: string
}

/** One namespace of `GET /_sandbox/namespaces`. */
export interface NamespaceSummary extends Readiness {
  name: string
  /** Absent if its stored data is damaged. */
  seed?: number
  /** ISO 8601 UTC, wall-clock time. */
  created_at?: string
  /** Slugs of its tenants. */
  tenants: string[]
  /** Number of requests on record, as in `GET /_sandbox/requests`. */
  requests: number
  /** ISO 8601 UTC, wall-clock time of the newest request on record; null for none. */
  last_request_at: string | null
  /** Number of broken rules, as last judged for somebody who looks at its operations; null if nobody does. */
  failed_findings: number | null
}

/** Requests since the process began, also of a namespace that was reset; those to the chains and to this interface are not counted. */
export interface CountedRequests {
  total: number
  /** By the status of the answer; `none`: no whole answer reached the client. */
  by_outcome: Record<CountedOutcome, number>
}

/** What a namespace holds in memory or in its data directory. */
export interface NamespaceHoldings {
  /** Approximate memory of the requests on record. */
  record_bytes: number
  ledger: {
    bytes: number
    /** `journal`: `bytes` is the length of its file; `memory`: an estimate of memory, for want of a data directory. */
    bytes_of: 'journal' | 'memory'
    end_users: number
    portfolios: number
    transactions: number
  }
}

/** One namespace of `GET /_sandbox/usage`. */
export interface NamespaceUsage {
  name: string
  /** ISO 8601 UTC, wall-clock time; absent if its stored data is damaged. */
  created_at?: string
  age_seconds?: number
  requests: CountedRequests
  /** ISO 8601 UTC, wall-clock time of the newest request, chains included, since the process began; null for none. */
  last_request_at: string | null
  /** Number of its Anvils that run now. */
  anvils: number
  /** Null for a stored one that nobody has asked for since the process began: it is opened by its first request. */
  holdings: NamespaceHoldings | null
}

/** `GET /_sandbox/usage` */
export interface Usage {
  /** Since the sandbox began. */
  uptime_seconds: number
  memory: {
    /** Of the process, without its Anvils, which are processes of their own. */
    resident_bytes: number
    heap_used_bytes: number
  }
  /** Of all namespaces, spare ones included. */
  anvils: { running: number; limit: number }
  /** Of all namespaces, deleted ones included. */
  requests: CountedRequests
  /** `limit` does not count the default one. */
  namespace_count: { total: number; open: number; limit: number }
  namespaces: NamespaceUsage[]
}

/** `POST /_sandbox/guests` */
export interface GuestWish {
  /** Process on the sandbox's machine with which it ends. */
  pid: number
  /** Default: that of the sandbox. */
  seed?: number
  /** Default: that of the fixture, else 0. */
  confirmation_delay?: string | number
  /** ISO 8601 moment its clock starts at, frozen. Default: real time. */
  clock?: string
}

/** A sandbox within another one. */
export interface Guest {
  credentials: Credentials
  /** False if all its markets belong to real chains: faults cannot change those. */
  owns_markets: boolean
  /** True if its transfers are confirmed with a delay. */
  delays_confirmation: boolean
}

/** `POST /_sandbox/conclusion`: a namespace after the command has ended and the transfers under way have settled. */
export interface Conclusion {
  evidence: Evidence
  /** The rules in force when the command ended. */
  rules: readonly ActiveFault[]
  /** Number of transfers that did not settle in time. */
  unsettled: number
}

/** A {@link Conclusion} as the sandbox answers it. */
export interface AnsweredConclusion extends Conclusion {
  /** Number of namespaces that clients of the sandbox have made. */
  other_namespaces: number
}

/** `GET /_sandbox/audited_money` */
export interface AuditedMoney {
  money: Money
  audit: AuditReport
}

/** `GET /_sandbox/clock` */
export interface ClockState {
  /** ISO 8601 UTC with milliseconds. */
  now: string
  frozen: boolean
  offset_seconds: number
}

/** `ok` if the latest block of every chain has the clock's time; otherwise the reason: a chain may be down, or slow. */
export interface ChainTime {
  ok: boolean
  reason?: string
}

/** Answer to a move of the clock, once the chains have followed or cannot. */
export interface MovedClock extends ClockState {
  chains: ChainTime
}

/** `POST /_sandbox/clock`: advance or set, or freeze, or one of the former with freeze. */
export interface ClockMove {
  /** A duration: `8d`. */
  advance?: string
  /** A later moment, ISO 8601. */
  set?: string
  freeze?: boolean
}

/** Differences of a minted token from a good one. */
export interface TokenChanges {
  /** Claims to replace; null removes one. */
  claims?: Record<string, unknown>
  /** Header members to replace. */
  header?: Record<string, unknown>
  /** Seconds; negative for an expired token. */
  expires_in?: number
  /** `unknown`: a key that is registered nowhere. */
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
  /** The scenarios that ship with the sandbox. */
  scenarios: { name: string; description: string }[]
  /** The last one started, unless it was stopped. */
  current: ScenarioRun | null
}

/** `POST /_sandbox/scenarios/stop` */
export interface StoppedScenario {
  /** The run that was stopped; null if there was none. */
  stopped: ScenarioRun | null
}

/** `GET /_sandbox/report` */
export interface ReportWish {
  /** Findings that must be passed, beside those that the scenario expects. */
  require?: readonly FindingId[] | undefined
  /** True if the client has ended and so will not do anything more. Default: true. */
  ended?: boolean | undefined
  /** The way in which the command that runs the client ended: with code 0, otherwise, or not in time. Default: unknown. */
  end?: CommandEnding | undefined
}

export type * from '../overview/contract.ts'

export type {
  ActiveFault,
  Assumption,
  AuditReport,
  ConfigurationCause,
  ExchangeFilter,
  ExchangeLine,
  ExchangePage,
  ExchangeQuery,
  ExplainedExchange,
  FaultPreview,
  FaultRule,
  Fidelity,
  FindingId,
  Har,
  Level,
  MergedReport,
  NextExchange,
  NextExchangeQuery,
  OperationOutcome,
  RecordedExchange,
  Report,
  ReportedFinding,
  Scenario,
  ScenarioFile,
  ScenarioRun,
}
