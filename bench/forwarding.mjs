import { launchFleet } from './support/fleet.mjs'
import { Load } from './support/load.mjs'
import { processorTimeOf } from './support/processes.mjs'
import { alternate } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const ROUNDS = 7
const MILLISECONDS = 1_000

/** The pool list through a process that passes it on, beside the same asked of its owner: requests per second, and milliseconds each. */
export async function forwarding() {
  const fleet = await launchFleet()
  const tenant = await Tenant.connect(fleet.credentials)
  const through = `${fleet.front}${new URL(tenant.poolsUrl).pathname}`
  const rate = (url, connections) => async () => {
    const load = await Load.open(url, { headers: { authorization: tenant.authorization }, connections })
    const { perSecond } = await load.run(MILLISECONDS)
    load.close()
    return perSecond
  }
  const measurements = {
    direct: rate(tenant.poolsUrl, 16),
    through: rate(through, 16),
    alone: rate(tenant.poolsUrl, 1),
    aloneThrough: rate(through, 1),
  }
  try {
    await alternate(measurements, 1) // warms all up
    const before = processorTimeOf(fleet.frontProcess.pid)
    const rates = await alternate(measurements, ROUNDS)
    const what = 'GET /v1/partner/pools, passed on'
    const beside = 'asked of its owner'
    const rows = [
      { what: `${what}, 16 connections`, value: rates.through, unit: '/s', beside, reference: rates.direct },
      {
        what: `${what}, one at a time`,
        value: 1000 / rates.aloneThrough,
        unit: 'ms',
        beside,
        reference: 1000 / rates.alone,
      },
    ]
    if (before === undefined) return rows
    const answered = ((rates.through + rates.aloneThrough) * ROUNDS * MILLISECONDS) / 1000
    const each = (1000 * (processorTimeOf(fleet.frontProcess.pid) - before)) / answered
    return [...rows, { what: `${what}: processor time of the passing process`, value: each, unit: 'µs' }]
  } finally {
    tenant.close()
    await fleet.stop()
  }
}
