import { type RpcCall, RpcError } from '../json-rpc/rpc-client.ts'
import type { ChainWriter } from './chain-writer.ts'

/** Direct changes of balances or allowances that somebody waits for. */
export interface CheatJob {
  calls: readonly RpcCall[]
  resolve(): void
  reject(reason: unknown): void
}

/** Carries out what waits in one round trip, or one job after another if a call is refused: it must not fail its neighbours. */
export async function runCheats(writer: ChainWriter, jobs: readonly CheatJob[]): Promise<void> {
  if (jobs.length === 0) return
  try {
    await writer.cheat(jobs.flatMap(({ calls }) => calls))
    for (const job of jobs) job.resolve()
  } catch (error) {
    if (jobs.length > 1 && error instanceof RpcError) for (const job of jobs) await runCheats(writer, [job])
    else for (const job of jobs) job.reject(error)
  }
}
