import { afterAll, describe, expect, onTestFailed, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { Credentials } from '../../src/index.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { partnerAt } from '../helpers/partner.ts'
import { atSomeMoment, ClientLoad } from './harness/client-load.ts'
import { ClientMemory } from './harness/client-memory.ts'
import { expectNothingLost } from './harness/expect-nothing-lost.ts'
import type { HarnessDeps } from './harness/harness-parts.ts'
import { SandboxProcess } from './harness/sandbox-process.ts'

const NAME = 'mine'

/** Each end that a namespace comes to, and its round. */
const ENDS = [
  ['the sandbox is killed', 0],
  ['its Anvils are killed', 1],
  ['the sandbox is killed once more', 2],
  ['it rests, and the sandbox is ended', 3],
] as const

/** Clients work for some milliseconds in each of these rounds, then comes its end. The first round is always among them. */
export function keptNamespace(rounds: readonly number[], load: number): void {
  const random = new SeededRandom(7)
  const memory = new ClientMemory()
  const sandbox = new SandboxProcess({ flags: ['--namespace-idle', '1s'] })
  afterAll(() => sandbox.dispose())

  function depsOf(credentials: Credentials, round: number): HarnessDeps {
    const [rpcUrl = ''] = Object.values(credentials.rpc_urls)
    const control = new ControlClient(credentials.base_url, { namespace: NAME })
    return { acme: partnerAt(credentials), control, rpcUrl, memory, random, round }
  }

  /** The sandbox started again; its namespace is opened by whoever asks first. */
  async function restarted(round: number): Promise<HarnessDeps> {
    const { base_url } = await sandbox.start('0')
    return depsOf(await new ControlClient(base_url, { namespace: NAME }).credentials(), round)
  }

  describe('a namespace that is kept', () => {
    let deps: HarnessDeps

    test.each(ENDS.filter(([, round]) => rounds.includes(round)))('loses nothing when %s', async (what, round) => {
      onTestFailed(() => console.error(sandbox.log))
      if (round === 0) {
        const { base_url } = await sandbox.start('0')
        deps = depsOf(await new ControlClient(base_url).createNamespace({ name: NAME }), 0)
      }
      deps = { ...deps, round }
      const clients = new ClientLoad(deps)
      await atSomeMoment(load)
      if (what.includes('Anvils')) {
        sandbox.killAnvil()
        await atSomeMoment(500)
        await expect.poll(() => deps.control.namespaces()).toMatchObject([{ ready: true }, { ready: true }])
      } else if (what.includes('killed')) await sandbox.end('SIGKILL')
      await clients.stop()
      if (what.includes('rests')) {
        await expect.poll(() => sandbox.anvils().length).toBe(1) // the default one's
        await sandbox.end('SIGTERM')
      }
      if (!what.includes('Anvils')) deps = await restarted(round)
      await expectNothingLost(deps)
    })
  })
}
