/// <reference lib="esnext.disposable" preserve="true" />
export { AnvilBinaryMissingError, AnvilStartError } from './chain/node/anvil-process.ts'
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
} from './control/contract.ts'
export { ControlError, RefusedError } from './control/control-error.ts'
export { DataDirectoryError } from './data-dir/data-directory-error.ts'
export { InvariantError } from './domain/invariants.ts'
export { ChainSetupError, ChainUnavailableError, ChainUnsoundError } from './domain/ports/chain.ts'
export { NotKeptError } from './domain/ports/journal.ts'
export { FixtureError } from './fixtures/fixture.ts'
export type { ChainClient } from './library/chain-clients.ts'
export { type ConnectOptions, connectSandbox } from './library/connect-sandbox.ts'
export type {
  ClockHandle,
  FaultsHandle,
  NamespaceOptions,
  NamespacesHandle,
  SandboxHandle,
  ScenariosHandle,
  TokenWish,
} from './library/handle.ts'
export type { NextWish, RequestsHandle } from './library/requests-handle.ts'
export { startSandbox } from './library/start-sandbox.ts'
export { OptionError } from './option-error.ts'
export type { SandboxLogger, SandboxOptions } from './options.ts'
export { SnapshotError } from './snapshot/snapshot-error.ts'
export { TlsError } from './tls/server-certificate.ts'
