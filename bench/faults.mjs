import { requestRate } from './support/load.mjs'
import { launchSandbox } from './support/processes.mjs'
import { alternate } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const ROUNDS = 7
const MILLISECONDS = 1_000
const RULES = 100

/** Requests per second of the pool list with rules in force that do not strike it, beside a sandbox without any. */
export async function faults() {
  const [ruled, free] = [await launchSandbox(), await launchSandbox()]
  const [tenant, other] = [await Tenant.connect(ruled.credentials), await Tenant.connect(free.credentials)]
  const rate = ({ poolsUrl, authorization }) => {
    return () => requestRate(poolsUrl, { headers: { authorization }, milliseconds: MILLISECONDS })
  }
  try {
    const response = await fetch(`${ruled.credentials.control_url}/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Array.from({ length: RULES }, (_, i) => rule(i))),
    })
    if (response.status !== 201) throw new Error(await response.text())
    const measurements = { ruled: rate(tenant), free: rate(other) }
    await alternate(measurements, 1) // warms both up
    const { ruled: value, free: reference } = await alternate(measurements, ROUNDS)
    return [{ what: `GET pools, ${RULES} rules in force`, value, unit: '/s', beside: 'no rule', reference }]
  } finally {
    tenant.close()
    other.close()
    await Promise.all([ruled.stop(), free.stop()])
  }
}

/** Half the rules are for another operation; half match, count the request, and let it through. */
function rule(i) {
  return i % 2
    ? { kind: 'drop_connection', match: { operation: 'deposit' }, times: 'always' }
    : { kind: 'latency', match: { operation: 'list_pools' }, skip: 1_000_000_000, with: { delay: '1s' } }
}
