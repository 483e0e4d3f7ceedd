import { requestRate } from './support/load.mjs'
import { cpuOf, launchProbedSandbox } from './support/processes.mjs'
import { AT_ONCE, Savers } from './support/savers.mjs'
import { alternate, median } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const ROUNDS = 15
const WARM_UP_ROUNDS = 2
const MILLISECONDS = 1_000
const UNWATCHED = ['--record-exchanges', '0']

/** Requests and deposits per second of a sandbox that records what its clients send, beside one that does not. */
export async function watching() {
  return [...(await pools()), await deposits()]
}

/** The rate, and what other work on the machine disturbs less: the process's own time for a request. */
async function pools() {
  const sandboxes = [await launchProbedSandbox([]), await launchProbedSandbox(UNWATCHED)]
  const tenants = await Promise.all(sandboxes.map(({ credentials }) => Tenant.connect(credentials)))
  const times = { watched: [], unwatched: [] }
  const rate = (i, name) => async () => {
    const before = await cpuOf(sandboxes[i])
    const { poolsUrl, authorization } = tenants[i]
    const perSecond = await requestRate(poolsUrl, { headers: { authorization }, milliseconds: MILLISECONDS })
    times[name].push((1_000 * ((await cpuOf(sandboxes[i])) - before)) / ((perSecond * MILLISECONDS) / 1_000))
    return perSecond
  }
  try {
    const what = 'GET /v1/partner/pools, 16 connections'
    const rates = { watched: rate(0, 'watched'), unwatched: rate(1, 'unwatched') }
    await alternate(rates, WARM_UP_ROUNDS)
    for (const name of Object.keys(times)) times[name] = []
    const medians = await alternate(rates, ROUNDS)
    const own = {
      value: median(times.watched),
      unit: 'µs',
      beside: 'nothing recorded',
      reference: median(times.unwatched),
    }
    return [row(what, medians), { what: `${what}: processor time each`, ...own, aim: '<= 1.03' }]
  } finally {
    for (const tenant of tenants) tenant.close()
    await Promise.all(sandboxes.map((sandbox) => sandbox.stop()))
  }
}

async function deposits() {
  const [watched, unwatched] = [await Savers.start(), await Savers.start(...UNWATCHED)]
  try {
    for (const savers of [watched, unwatched]) await savers.growTo(AT_ONCE)
    const rates = { watched: () => watched.rateAtOnce('deposit'), unwatched: () => unwatched.rateAtOnce('deposit') }
    await alternate(rates, WARM_UP_ROUNDS)
    return row(`deposits, ${AT_ONCE} at once`, await alternate(rates, ROUNDS))
  } finally {
    await Promise.all([watched.stop(), unwatched.stop()])
  }
}

function row(what, { watched, unwatched }) {
  return { what, value: watched, unit: '/s', beside: 'nothing recorded', reference: unwatched, aim: '>= 0.97' }
}
