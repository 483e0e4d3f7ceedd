import type { SandboxFlags } from './run-flags.ts'

/** Flags of `certify`. */
export interface CertifyFlags extends SandboxFlags {
  jobs?: number
  timeout?: number
  tolerate?: boolean
  allowInconclusive?: boolean
  subject?: string
  output: string
  verify: string[]
}

/** Always the same, so that the same client gets the same digest. */
export const SEED = 1
export const CLOCK = '2026-01-01T00:00:00Z'
