import { Load } from './support/load.mjs'
import { launchBareFastify, launchSandbox, processorTimeOf } from './support/processes.mjs'
import { alternate, median } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const ROUNDS = 7
const MILLISECONDS = 1_000
const BRIEF_MILLISECONDS = 400

/**
 * The pool list without and with the request log, beside a bare Fastify route that answers the same payload: requests per second, and a
 * request's processor time, which other work on the machine disturbs less.
 */
export async function requests({ brief }) {
  const sandboxes = [await launchSandbox(), await launchSandbox('--log-level', 'info')]
  const tenants = await Promise.all(sandboxes.map(({ credentials }) => Tenant.connect(credentials)))
  const bare = await launchBareFastify(JSON.stringify(await tenants[0].pools()))
  const asked = (server, tenant, url = tenant.poolsUrl) =>
    new Asked(server, url, tenant.authorization, brief ? BRIEF_MILLISECONDS : MILLISECONDS)
  const servers = {
    unlogged: asked(sandboxes[0], tenants[0]),
    logged: asked(sandboxes[1], tenants[1]),
    bare: asked(bare, tenants[0], `${bare.line}/static`),
  }
  const measurements = Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, () => server.rate()]))
  try {
    await alternate(measurements, 1) // warms all up
    for (const server of Object.values(servers)) server.forget()
    const { bare: reference, ...rates } = await alternate(measurements, ROUNDS)
    const { unlogged, logged } = servers
    const what = 'GET /v1/partner/pools, 16 connections'
    const beside = 'bare Fastify route, same payload'
    const own = {
      what: `${what}: processor time each`,
      value: unlogged.own,
      unit: 'µs',
      beside,
      reference: servers.bare.own,
    }
    return [
      { what, value: rates.unlogged, unit: '/s', beside, reference, aim: '>= 0.7' },
      ...(own.value === undefined ? [] : [own, { ...own, what: `${own.what}, a log line each`, value: logged.own }]),
      { what: `${what}, a log line each`, value: rates.logged, unit: '/s', beside, reference },
    ]
  } finally {
    for (const tenant of tenants) tenant.close()
    await Promise.all([bare, ...sandboxes].map((server) => server.stop()))
  }
}

/** A server that is asked for a while, on new connections each time. */
class Asked {
  #worked = []

  constructor({ child }, url, authorization, milliseconds) {
    Object.assign(this, { pid: child.pid, url, headers: { authorization }, milliseconds })
  }

  /** Requests per second. */
  async rate() {
    const load = await Load.open(this.url, { headers: this.headers })
    const before = processorTimeOf(this.pid)
    const { answered, perSecond } = await load.run(this.milliseconds)
    if (before !== undefined) this.#worked.push((1000 * (processorTimeOf(this.pid) - before)) / answered)
    load.close()
    return perSecond
  }

  forget() {
    this.#worked = []
  }

  /** The median of a request's processor time in microseconds; undefined where the system does not say. */
  get own() {
    return this.#worked.length > 0 ? median(this.#worked) : undefined
  }
}
