import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { make, saversOf } from './namespaces.mjs'
import { launchSandbox, residentOf } from './support/processes.mjs'
import { perSecond } from './support/savers.mjs'
import { timed, times } from './support/stats.mjs'

/** Namespaces, and those of them in use at once: as many as deploy/ lets have an Anvil. */
const MANY = 500
const BUSY = 24
/** Clients of each of them, and deposits of each client. */
const CLIENTS = 4
const DEPOSITS = 25
const MIB = 2 ** 20

/** A team's sandbox as deploy/ starts it: what its namespaces take, what they do at once, how it ends under load, and starts again. */
export async function team() {
  const directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-bench-'))
  const data = ['--data-dir', join(directory, 'data'), '--fsync', '--confirmation-delay', '0']
  const flags = [...data, '--max-namespaces', String(MANY), '--max-nodes', String(BUSY)]
  let sandbox = await launchSandbox(...flags)
  try {
    const rows = []
    const alone = residentOf(sandbox).sandbox
    const all = []
    const each = (await timed(() => times(MANY, 4, async () => all.push(await make(sandbox))))) / MANY
    const rest = residentOf(sandbox).sandbox
    rows.push(
      { what: `${MANY} namespaces made and kept, each`, value: each, unit: 'ms' },
      { what: '… memory of each at rest', value: (rest - alone) / MANY / MIB, unit: 'MiB' },
      { what: '… memory of the process', value: rest / MIB, unit: 'MiB' },
    )
    const savers = []
    await times(BUSY, 4, async (i) => savers.push(...(await saversOf(all[i], CLIENTS))))
    const deposit = async (saver) => {
      for (let i = 0; i < DEPOSITS; i++) await saver.deposit(1_000_000)
    }
    const rate = await perSecond(savers.length * DEPOSITS, () => Promise.all(savers.map(deposit)))
    const busy = residentOf(sandbox)
    const { namespaces } = await (await fetch(`${sandbox.credentials.control_url}/usage`)).json()
    const used = namespaces.filter(({ requests }) => requests.total > 0)
    const sum = (measure) => used.reduce((total, one) => total + measure(one), 0) / used.length
    rows.push(
      { what: `deposits in ${BUSY} of them, ${CLIENTS} at once in each`, value: rate, unit: '/s' },
      { what: '… memory of the process', value: busy.sandbox / MIB, unit: 'MiB' },
      { what: '… of its Anvils', value: busy.anvil / MIB, unit: 'MiB' },
      { what: '… record of each', value: sum(({ holdings }) => holdings.record_bytes) / MIB, unit: 'MiB' },
      {
        what: '… journal of the ledger of each',
        value: sum(({ holdings }) => holdings.ledger.bytes) / MIB,
        unit: 'MiB',
      },
    )
    const underLoad = Promise.allSettled(savers.map(deposit))
    rows.push({ what: 'end by SIGTERM meanwhile', value: await timed(sandbox.stop), unit: 'ms' })
    await underLoad
    sandbox = await launchSandbox(...flags)
    rows.push({ what: 'start again until it is ready', value: sandbox.milliseconds, unit: 'ms' })
    return rows
  } finally {
    await sandbox.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
