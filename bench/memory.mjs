import { depositMany, openPortfolios } from './support/history.mjs'
import { heapOf, launchProbedSandbox, residentOf } from './support/processes.mjs'
import { Tenant } from './support/tenant.mjs'

const COUNTS = [10_000, 50_000]
const MEBIBYTE = 2 ** 20

/** Memory of the sandbox and of Anvil after more and more deposits, nothing being written to disk. */
export async function memory() {
  const sandbox = await launchProbedSandbox(['--confirmation-delay', '0'])
  const tenant = await Tenant.connect(sandbox.credentials)
  const look = async () => ({ ...residentOf(sandbox), heap: await heapOf(sandbox) })
  try {
    const portfolios = await openPortfolios(tenant)
    const rows = []
    const empty = await look()
    let [done, before] = [0, empty]
    for (const count of COUNTS) {
      await depositMany(portfolios, count - done)
      const now = await look()
      const after = (what, of) => ({
        what: `${what} after ${count.toLocaleString('en')} deposits`,
        ...{ value: now[of] / MEBIBYTE, unit: 'MiB', beside: 'before the first', reference: empty[of] / MEBIBYTE },
      })
      const each = { what: '… a transaction', value: (now.heap - before.heap) / (count - done), unit: 'bytes' }
      rows.push(
        after("Anvil's memory", 'anvil'),
        after("sandbox's memory", 'sandbox'),
        after("sandbox's heap", 'heap'),
        each,
      )
      ;[done, before] = [count, now]
    }
    return rows
  } finally {
    tenant.close()
    await sandbox.stop()
  }
}
