import { ChainUnsoundError } from '../../domain/ports/chain.ts'
import { RpcError } from './rpc-client.ts'

/** The node answered, and it makes no sense: the contracts or accounts are not what they should be. */
export class SenselessAnswerError extends Error {
  override readonly name = 'SenselessAnswerError'
}

/** What to throw instead of an error that only somebody who changed the chain can have caused; any other error as it is. */
export function unsound(chainId: string, error: unknown): unknown {
  if (!(error instanceof SenselessAnswerError || error instanceof RpcError)) return error
  return new ChainUnsoundError(chainId, error.message, { cause: error })
}

/** A task's result. Throws what {@link unsound} makes of an error. */
export async function soundly<Result>(chainId: string, task: () => Promise<Result>): Promise<Result> {
  try {
    return await task()
  } catch (error) {
    throw unsound(chainId, error)
  }
}
