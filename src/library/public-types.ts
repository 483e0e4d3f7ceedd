// Types of a handle and of its answers, which every entry of the package exports.
export type {
  ActiveFault,
  AuditReport,
  ChainTime,
  ClockState,
  Credentials,
  ExchangeFilter,
  ExchangePage,
  ExchangeQuery,
  ExplainedExchange,
  FaultRule,
  FindingId,
  Har,
  MovedClock,
  NamespaceSummary,
  RecordedExchange,
  Report,
  ReportWish,
  ScenarioFile,
  ScenarioRun,
  TenantCredentials,
} from '../control/contract.ts'
export type { ChainClient } from './chain-clients.ts'
export type { SandboxAddress } from './connect-to.ts'
export type {
  ClockHandle,
  FaultsHandle,
  NamespaceOptions,
  NamespacesHandle,
  SandboxHandle,
  ScenariosHandle,
  TokenWish,
} from './handle.ts'
export type { NextWish, RequestsHandle } from './requests-handle.ts'
