import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Load } from './support/load.mjs'
import { Postgres } from './support/postgres.mjs'
import { launchSandbox } from './support/processes.mjs'
import { AT_ONCE, perSecond, Savers } from './support/savers.mjs'
import { alternate } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const ROUNDS = 5
const WARM_UP_ROUNDS = 1
/** Deposits of a turn: in a row, and of each portfolio of one end user. */
const [IN_A_ROW, EACH] = [60, 5]
const PORTFOLIOS = 32
const POOLS_MS = 1_000
const STARTS = 3
/** Namespaces that are kept at rest. */
const KEPT = 10_000
/** Milliseconds after a start in which the sandbox tidies up, and at rest. */
const [SETTLING, REST] = [15_000, 20_000]

/** Deposits with the state in PostgreSQL, by its socket and with a round trip, beside those with a data directory. */
export async function database() {
  const folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-bench-'))
  const server = await Postgres.start()
  try {
    const [one, five] = [await server.databaseBehind('one', 1), await server.databaseBehind('five', 5)]
    const places = {
      file: ['--data-dir', join(folder, 'data')],
      socket: ['--database', server.database('socket')],
      '1 ms': ['--database', one.url],
      '5 ms': ['--database', five.url],
    }
    const trips = Object.entries({ '1 ms': one, '5 ms': five }).map(([name, { roundTrip }]) => ({
      what: `round trip to the database at ${name}, beyond TCP on one machine`,
      ...{ value: roundTrip, unit: 'ms' },
    }))
    const rows = [...trips, ...(await rates(places))]
    const kept = await filled(server)
    const ready = await starts({ ...places, [`with ${KEPT} namespaces kept`]: kept, nowhere: [] })
    return [...rows, ...ready, await atRest(server, kept)]
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

/** Deposits and pools a second of sandboxes on all places, in turns. */
async function rates(places) {
  const sides = {}
  try {
    for (const [name, flags] of Object.entries(places)) sides[name] = await Side.start(flags)
    const rows = []
    for (const [what, measure, aim] of [
      [`deposits, ${AT_ONCE} clients`, (side) => side.together(), 0.8],
      ['deposits, one at a time', (side) => side.inARow(), 0.6],
      [`deposits into ${PORTFOLIOS} portfolios of one end user`, (side) => side.ofOne(), 0.5],
      ['GET pools', (side) => side.pools()],
    ]) {
      const measurements = Object.fromEntries(Object.entries(sides).map(([name, side]) => [name, () => measure(side)]))
      await alternate(measurements, WARM_UP_ROUNDS)
      const { file, ...others } = await alternate(measurements, ROUNDS)
      const row = (name) => ({
        what: `${what}, database ${name === 'socket' ? 'by its socket' : `at ${name}`}`,
        ...{ value: others[name], unit: '/s', beside: 'data directory', reference: file },
        ...(aim && name !== '5 ms' && { aim: `>= ${aim}` }),
      })
      rows.push(...Object.keys(others).map(row))
      rows.push({ what: `load of the machine after ${what}`, value: loadavg()[0], unit: '' })
    }
    return rows
  } finally {
    for (const side of Object.values(sides)) await side.stop()
  }
}

/** A sandbox on one of the places. */
class Side {
  static async start(flags) {
    const side = new Side()
    side.savers = await Savers.start(...flags)
    await side.savers.growTo(AT_ONCE)
    side.tenant = await Tenant.connect(side.savers.sandbox.credentials)
    const user = await side.tenant.endUser('many')
    side.portfolios = []
    for (let i = 0; i < PORTFOLIOS; i++) side.portfolios.push(await user.portfolio(side.savers.pool))
    return side
  }

  together() {
    return this.savers.rateAtOnce('deposit')
  }

  inARow() {
    const [saver] = this.savers.all
    return perSecond(IN_A_ROW, async () => {
      for (let i = 0; i < IN_A_ROW; i++) await saver.deposit(1_000_000)
    })
  }

  ofOne() {
    const repeatedly = async (portfolio) => {
      for (let i = 0; i < EACH; i++) await portfolio.deposit(1_000_000)
    }
    return perSecond(PORTFOLIOS * EACH, () => Promise.all(this.portfolios.map(repeatedly)))
  }

  async pools() {
    const { authorization, poolsUrl } = this.tenant
    const load = await Load.open(poolsUrl, { headers: { authorization }, connections: 16 })
    const { perSecond: rate } = await load.run(POOLS_MS)
    load.close()
    return rate
  }

  async stop() {
    this.tenant.close()
    await this.savers.stop()
  }
}

/** Milliseconds until a sandbox is ready on each place, with what the deposits have left there. */
async function starts(places) {
  const measure = (flags) => async () => {
    const { milliseconds, stop } = await launchSandbox('--confirmation-delay', '0', ...flags)
    await stop()
    return milliseconds
  }
  const measurements = Object.fromEntries(Object.entries(places).map(([name, flags]) => [name, measure(flags)]))
  const { file, ...others } = await alternate(measurements, STARTS)
  const placeOf = (name) => (name === 'nowhere' ? 'nothing kept' : `database ${name}`)
  return Object.entries(others).map(([name, value]) => ({
    what: `ready, ${placeOf(name)}`,
    ...{ value, unit: 'ms', beside: 'data directory', reference: file },
  }))
}

/** The flags for a database with {@link KEPT} namespaces: one is made, the others are copies of its row, which is what a start reads. */
async function filled(server) {
  const flags = ['--database', server.database('kept'), '--max-namespaces', String(KEPT)]
  const { credentials, stop } = await launchSandbox(...flags)
  const headers = { 'content-type': 'application/json' }
  const wish = { method: 'POST', headers, body: JSON.stringify({ name: 'first' }) }
  const { status } = await fetch(`${credentials.base_url}/_sandbox/namespaces`, wish)
  if (status !== 201) throw new Error(`a namespace was answered ${status}`)
  await stop()
  const row = 'epoch, head, generations, manifest, kept'
  const copies = `insert into yield_sandbox.namespace (name, life, clients, tenants, touched_at, ${row})
    select 'copy-' || i, 'life-' || i, array['client-' || i], array['tenant-' || i], touched_at, ${row}
    from yield_sandbox.namespace, generate_series(2, ${KEPT}) i where name = 'first'`
  server.query(copies, 'kept')
  return flags
}

/** WAL that a process writes with nothing to do: its lease alone, whatever the number of its namespaces. */
async function atRest(server, flags) {
  const sandbox = await launchSandbox(...flags)
  await server.walIn(SETTLING)
  // The least of three: PostgreSQL tidies up after the deposits, and writes a hundred times as much meanwhile.
  const spans = []
  while (spans.length < 3) spans.push(await server.walIn(REST))
  const bytes = Math.min(...spans)
  await sandbox.stop()
  return {
    what: `WAL of a process at rest with ${KEPT} namespaces, an hour`,
    value: (bytes * 3_600_000) / REST / 2 ** 20,
    unit: 'MiB',
  }
}
