import { Load } from './support/load.mjs'
import { cpuOf, launchProbedSandbox } from './support/processes.mjs'
import { AT_ONCE, Savers } from './support/savers.mjs'
import { alternate, median } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

/** Short turns, and many: the machine's own speed changes from one second to the next. */
const POOLS = { rounds: 400, warmUp: 100, milliseconds: 50 }
const DEPOSITS = { rounds: 30, warmUp: 3, each: 10 }
/** Sandboxes of each kind: two of a kind differ, too. */
const SANDBOXES = 2
/** What costs something, and beside what: flags of `start`, and whether the inspector is open. */
const COMPARISONS = [
  {
    title: '',
    // What recording may add to a request for pools.
    aim: '<= 1 µs',
    beside: 'nothing recorded',
    watched: { flags: [] },
    unwatched: { flags: ['--record-exchanges', '0'] },
  },
  {
    title: ', the inspector open',
    beside: 'recorded, no page open',
    watched: { flags: [], hasPage: true },
    unwatched: { flags: [] },
  },
]

/**
 * Requests and deposits per second of sandboxes that record what their clients send, beside others that do not; then of sandboxes with the
 * inspector open beside others without.
 */
export async function watching() {
  const rows = []
  for (const comparison of COMPARISONS) rows.push(...(await pools(comparison)), ...(await deposits(comparison)))
  return rows
}

/** Does what a page does that is open on the operations: it reads the newest, then every event. Returns what closes it. */
async function openPage({ base_url }) {
  const control = `${base_url}/_sandbox`
  const { event_id } = await (await fetch(`${control}/operations?limit=40`)).json()
  const closed = new AbortController()
  const stream = await fetch(`${control}/events?last_event_id=${event_id}`, { signal: closed.signal })
  const read = async () => {
    for await (const _ of stream.body);
  }
  read().catch(() => {})
  return () => closed.abort()
}

async function pools(comparison) {
  const open = async ({ flags, hasPage }) => {
    const sandbox = await launchProbedSandbox(flags)
    const closePage = hasPage ? await openPage(sandbox.credentials) : () => {}
    const tenant = await Tenant.connect(sandbox.credentials)
    const load = await Load.open(tenant.poolsUrl, { headers: { authorization: tenant.authorization } })
    const stop = async () => {
      closePage()
      load.close()
      tenant.close()
      await sandbox.stop()
    }
    return { sandbox, run: () => load.run(POOLS.milliseconds), stop }
  }
  return compare('GET /v1/partner/pools, 16 connections', comparison, open, POOLS)
}

async function deposits({ aim: _, ...comparison }) {
  const open = async ({ flags, hasPage }) => {
    const savers = await Savers.start(...flags)
    const closePage = hasPage ? await openPage(savers.sandbox.credentials) : () => {}
    await savers.growTo(AT_ONCE)
    const { each } = DEPOSITS
    const run = async () => ({ answered: AT_ONCE * each, perSecond: await savers.rateAtOnce('deposit', each) })
    const stop = () => {
      closePage()
      return savers.stop()
    }
    return { sandbox: savers.sandbox, run, stop }
  }
  return compare(`deposits, ${AT_ONCE} at once`, comparison, open, DEPOSITS)
}

/**
 * Three rows: the rate and, what other work on the machine disturbs less, the process's own time for a request, and by how much that of two
 * sandboxes in one turn differs. `open` starts a sandbox that can be run for a turn.
 */
async function compare(what, { title, beside, aim, ...kinds }, open, { rounds, warmUp }) {
  const opened = { watched: [], unwatched: [] }
  try {
    for (let i = 0; i < SANDBOXES; i++) {
      for (const [kind, wish] of Object.entries(kinds)) opened[kind].push(await open(wish))
    }
    const times = { watched: [], unwatched: [] }
    const turn = (kind) => async () => {
      const rates = []
      for (const { sandbox, run } of opened[kind]) {
        const before = await cpuOf(sandbox)
        const { answered, perSecond } = await run()
        times[kind].push((1000 * ((await cpuOf(sandbox)) - before)) / answered)
        rates.push(perSecond)
      }
      return median(rates)
    }
    const turns = { watched: turn('watched'), unwatched: turn('unwatched') }
    await alternate(turns, warmUp)
    for (const kind of Object.keys(kinds)) times[kind] = []
    const rates = await alternate(turns, rounds)
    const row = ({ watched, unwatched }) => ({ value: watched, beside, reference: unwatched })
    const own = { watched: median(times.watched), unwatched: median(times.unwatched) }
    const added = times.watched.map((time, i) => time - times.unwatched[i])
    return [
      { what: `${what}${title}`, unit: '/s', ...row(rates), aim: '>= 0.97' },
      { what: `${what}${title}: processor time each`, unit: 'µs', ...row(own), aim: '<= 1.03' },
      { what: `${what}${title}: added to each`, unit: 'µs', value: median(added), beside, aim },
    ]
  } finally {
    for (const kind of Object.values(opened)) for (const { stop } of kind) await stop()
  }
}
