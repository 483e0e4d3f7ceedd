import { requestRate } from './support/load.mjs'
import { launchBareFastify, launchSandbox } from './support/processes.mjs'
import { alternate } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const ROUNDS = 7
const MILLISECONDS = 1_000

/** Requests per second of the pool list, beside a bare Fastify route that answers the same payload. */
export async function requests() {
  const sandbox = await launchSandbox()
  const tenant = await Tenant.connect(sandbox.credentials)
  const bare = await launchBareFastify(JSON.stringify(await tenant.pools()))
  const headers = { authorization: tenant.authorization }
  const rate = (url) => () => requestRate(url, { headers, milliseconds: MILLISECONDS })
  const measurements = { sandbox: rate(tenant.poolsUrl), bare: rate(`${bare.line}/static`) }
  try {
    await alternate(measurements, 1) // warms both up
    const { sandbox: value, bare: reference } = await alternate(measurements, ROUNDS)
    return [
      {
        what: 'GET /v1/partner/pools, 16 connections',
        ...{ value, unit: '/s', beside: 'bare Fastify route, same payload', reference, aim: '>= 0.6' },
      },
    ]
  } finally {
    tenant.close()
    await Promise.all([bare.stop(), sandbox.stop()])
  }
}
