import { createHmac } from 'node:crypto'
import type { ResolvedOptions } from '../resolve-options.ts'

/** Half of the digest is still far beyond guessing, and keeps the URL short. */
const LENGTH = 22

/**
 * What the RPC URLs of a namespace carry: who has it may send transactions. Undefined where only this machine can reach the
 * sandbox. It derives from the control token, so that a URL is good for as long as that is, and from the namespace's `life`, so
 * that it is not good for a later one of the same name.
 */
export function rpcKey(
  { local, controlToken }: Pick<ResolvedOptions, 'local' | 'controlToken'>,
  life: string | undefined,
): string | undefined {
  if (local || controlToken === undefined) return undefined
  return createHmac('sha256', controlToken)
    .update(life === undefined ? 'rpc-key' : `rpc-key/${life}`)
    .digest('base64url')
    .slice(0, LENGTH)
}
