import { launchSandbox } from './support/processes.mjs'
import { median, timed } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const ROUNDS = 15
const DEPOSITS = 20

/** Milliseconds a reset takes after some deposits, beside starting anew. */
export async function reset() {
  const sandbox = await launchSandbox('--confirmation-delay', '0')
  const tenant = await Tenant.connect(sandbox.credentials)
  const times = []
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const { data } = await tenant.pools()
      const { deposit } = await tenant.saver('carol', data[0])
      for (let i = 0; i < DEPOSITS; i++) await deposit(1_000_000)
      times.push(await timed(() => tenant.reset()))
    }
  } finally {
    tenant.close()
    await sandbox.stop()
  }
  const beside = { beside: 'its own start', reference: sandbox.milliseconds }
  return [{ what: `reset after ${DEPOSITS} deposits`, value: median(times), unit: 'ms', ...beside }]
}
