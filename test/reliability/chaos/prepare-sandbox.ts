import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forked } from '../../chain/forked-fixture.ts'
import { startUpstream, type UpstreamChain } from '../../chain/upstream-chain.ts'
import { writeFixture } from '../../helpers/fixture-file.ts'
import { SandboxProcess } from '../harness/sandbox-process.ts'
import type { LifePlan } from './chaos-plan.ts'
import { renewingPackage } from './renewing-package.ts'

/** A sandbox that can be started, and what ends everything it needs. */
export interface PreparedSandbox {
  process: SandboxProcess
  /** Of a fork. */
  upstream: UpstreamChain | undefined
  dispose(): Promise<void>
}

/** Starts the upstream of a fork and makes the files that a plan needs. */
export async function prepareSandbox({ forked: fork, kept, renewAfter }: LifePlan): Promise<PreparedSandbox> {
  const root = renewAfter === undefined ? undefined : await renewingPackage()
  const directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-chaos-'))
  const upstream = fork ? await startUpstream('8453') : undefined
  const flags = upstream ? ['--fixtures', await writeFixture(directory, forked(upstream))] : []
  const renewed = root === undefined ? {} : { root, env: { RENEW_AFTER: String(renewAfter) } }
  return {
    process: new SandboxProcess({ kept, flags, ...renewed }),
    upstream,
    async dispose() {
      await upstream?.stop()
      for (const made of [directory, root]) if (made) await rm(made, { recursive: true })
    },
  }
}
