import { afterEach, beforeEach, expect, it } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import { eventually } from '../helpers/eventually.ts'
import { partnerAt } from '../helpers/partner.ts'
import { SandboxProcess } from './harness/sandbox-process.ts'

/** The default namespace's, one of a namespace at work, and a spare. */
const AT_WORK = 3

let sandbox: SandboxProcess
beforeEach(() => {
  sandbox = new SandboxProcess({ kept: false, flags: ['--namespace-idle', '1s'] })
})
afterEach(() => sandbox.dispose())

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'leaves nothing of namespaces at work, at rest, or of spares: %s',
  async (signal) => {
    const { base_url } = await sandbox.start('0')
    const control = new ControlClient(base_url)
    const resting = await control.createNamespace({ name: 'resting' })
    await partnerAt(resting).get('pools')
    await eventually(() => expect(sandbox.anvils().length).toBeGreaterThan(1))
    await eventually(() => expect(sandbox.anvils()).toHaveLength(1)) // it rests, and had the first spare, in whose place there is none yet
    const busy = await control.createNamespace({ name: 'busy' })
    await eventually(async () => {
      await partnerAt(busy).get('pools')
      expect(sandbox.anvils()).toHaveLength(AT_WORK)
    })
    await sandbox.end(signal)
    await sandbox.expectNothingLeft()
  },
)
