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
const KINDS = { watched: [], unwatched: ['--record-exchanges', '0'] }

/** Requests and deposits per second of sandboxes that record what their clients send, beside others that do not. */
export async function watching() {
  return [...(await pools()), ...(await deposits())]
}

async function pools() {
  const open = async (flags) => {
    const sandbox = await launchProbedSandbox(flags)
    const tenant = await Tenant.connect(sandbox.credentials)
    const load = await Load.open(tenant.poolsUrl, { headers: { authorization: tenant.authorization } })
    const stop = async () => {
      load.close()
      tenant.close()
      await sandbox.stop()
    }
    return { sandbox, run: () => load.run(POOLS.milliseconds), stop }
  }
  return compare('GET /v1/partner/pools, 16 connections', open, POOLS)
}

async function deposits() {
  const open = async (flags) => {
    const savers = await Savers.start(...flags)
    await savers.growTo(AT_ONCE)
    const { each } = DEPOSITS
    const run = async () => ({ answered: AT_ONCE * each, perSecond: await savers.rateAtOnce('deposit', each) })
    return { sandbox: savers.sandbox, run, stop: () => savers.stop() }
  }
  return compare(`deposits, ${AT_ONCE} at once`, open, DEPOSITS)
}

/**
 * Two rows: the rate and, what other work on the machine disturbs less, the process's own time for a request. `open` starts a sandbox
 * that can be run for a turn.
 */
async function compare(what, open, { rounds, warmUp }) {
  const opened = { watched: [], unwatched: [] }
  try {
    for (let i = 0; i < SANDBOXES; i++) {
      for (const [kind, flags] of Object.entries(KINDS)) opened[kind].push(await open(flags))
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
    for (const kind of Object.keys(KINDS)) times[kind] = []
    const rates = await alternate(turns, rounds)
    const row = ({ watched, unwatched }) => ({ value: watched, beside: 'nothing recorded', reference: unwatched })
    const own = { watched: median(times.watched), unwatched: median(times.unwatched) }
    return [
      { what, unit: '/s', ...row(rates), aim: '>= 0.97' },
      { what: `${what}: processor time each`, unit: 'µs', ...row(own), aim: '<= 1.03' },
    ]
  } finally {
    for (const kind of Object.values(opened)) for (const { stop } of kind) await stop()
  }
}
