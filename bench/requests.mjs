import { requestRate } from './support/load.mjs'
import { launchBareFastify, launchSandbox } from './support/processes.mjs'
import { alternate } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const ROUNDS = 7
const MILLISECONDS = 1_000
const BRIEF_MILLISECONDS = 400

/** Requests per second of the pool list, without and with the request log, beside a bare Fastify route that answers the same payload. */
export async function requests({ brief }) {
  const milliseconds = brief ? BRIEF_MILLISECONDS : MILLISECONDS
  const sandboxes = [await launchSandbox(), await launchSandbox('--log-level', 'info')]
  const tenants = await Promise.all(sandboxes.map(({ credentials }) => Tenant.connect(credentials)))
  const bare = await launchBareFastify(JSON.stringify(await tenants[0].pools()))
  const [unlogged, logged] = tenants.map((tenant) => rate(tenant.poolsUrl, tenant, milliseconds))
  const measurements = { unlogged, logged, bare: rate(`${bare.line}/static`, tenants[0], milliseconds) }
  try {
    await alternate(measurements, 1) // warms all up
    const { bare: reference, ...rates } = await alternate(measurements, ROUNDS)
    const beside = { unit: '/s', beside: 'bare Fastify route, same payload', reference }
    const what = 'GET /v1/partner/pools, 16 connections'
    return [
      { what, value: rates.unlogged, ...beside, aim: '>= 0.7' },
      { what: `${what}, a log line each`, value: rates.logged, ...beside },
    ]
  } finally {
    for (const tenant of tenants) tenant.close()
    await Promise.all([bare, ...sandboxes].map((server) => server.stop()))
  }
}

function rate(url, { authorization }, milliseconds) {
  return () => requestRate(url, { headers: { authorization }, milliseconds })
}
