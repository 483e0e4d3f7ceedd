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
  const renewed = renewAfter !== undefined && {
    root: await renewingPackage(),
    env: { RENEW_AFTER: String(renewAfter) },
  }
  if (!fork) return { process: new SandboxProcess({ kept, ...renewed }), upstream: undefined, dispose: async () => {} }
  const upstream = await startUpstream('8453')
  const directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-chaos-'))
  const flags = ['--fixtures', await writeFixture(directory, forked(upstream))]
  return {
    process: new SandboxProcess({ kept, flags, ...renewed }),
    upstream,
    async dispose() {
      await upstream.stop()
      await rm(directory, { recursive: true })
    },
  }
}
