import { createHmac } from 'node:crypto'
import type { ResolvedOptions } from '../resolve-options.ts'

/** Half of the digest is still far beyond guessing, and keeps the URL short. */
const LENGTH = 22

/**
 * Key in the RPC URLs of a namespace; a client that has it may send transactions. Undefined if only this machine can reach the sandbox.
 * It derives from the control token, so that a URL is valid as long as the token, and from the namespace's `life`, so that it is not
 * valid for a later namespace of the same name.
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
