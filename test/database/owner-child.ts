// A process that owns the namespace `moving`: appends numbered entries, and reads while its lease holds. Arguments: URL, length of the lease
// in milliseconds, number of the first entry. Prints `ready`, `kept <n>` for every acknowledged entry, `read <wall time> <n>` for every answer, and
// at last `lost`.
import { DatabaseRegistry } from '../../src/database/database-registry.ts'
import { SandboxClock } from '../../src/domain/clock.ts'

const [url = '', leaseMs = '', first = ''] = process.argv.slice(2)
const log = { debug() {}, info() {}, warn() {}, error() {} }
const clock = new SandboxClock()
const options = { url, clock, log, address: 'child:1', version: '0.0.0', formats: { oldest: 4, newest: 4 } }
const registry = await DatabaseRegistry.open({ ...options, leaseMs: Number(leaseMs) })
const storage = await registry.open('moving.1', { version: '0.0.0', seed: 7, fixture: 'acme', log })
const journal = await storage.journal<number>('ledger')
process.stdout.write('ready\n')

let kept = Number(first)
async function write(): Promise<void> {
  while (!storage.lost.aborted) {
    await journal.append(kept)
    process.stdout.write(`kept ${kept}\n`)
    kept++
  }
}

async function read(): Promise<void> {
  while (!storage.lost.aborted) {
    const read = kept
    await clock.wallSleep(3)
    const now = clock.wallNow()
    if (storage.holds()) process.stdout.write(`read ${now} ${read}\n`)
  }
}

await Promise.all([write().catch(() => undefined), read()])
process.stdout.write('lost\n')
await registry.close()
