import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { depositMany, openPortfolios } from './support/history.mjs'
import { cpuOf, heapOf, launchProbedSandbox, residentOf } from './support/processes.mjs'
import { median, timed } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const COUNTS = [1_000, 100_000]
/** Of each of two directories, in turns. */
const STARTS = 7
const REQUESTS = 200
/** Transactions on a page: both sides have full ones, and one in the middle. */
const LIMIT = 8
const MEBIBYTE = 2 ** 20

/** What a sandbox with a data directory costs the more transactions are stored, beside one with hardly any. */
export async function stored() {
  const few = await Stored.make(0)
  try {
    const reference = await few.costs()
    const rows = []
    for (const count of COUNTS) rows.push(...(await beside(few, reference, count)))
    return rows
  } finally {
    few.remove()
  }
}

async function beside(few, reference, count) {
  const many = await Stored.make(count)
  try {
    const [starts, startsOfFew] = await startsInTurns(many, few)
    const what = `${count.toLocaleString('en')} stored`
    const row =
      (costs) =>
      ([name, { value, unit }]) => ({
        ...{ what: `${name}, ${what}`, value, unit, beside: 'none stored', reference: costs[name].value },
      })
    return [
      { what: `making ${count.toLocaleString('en')} transactions`, value: many.seconds, unit: 's' },
      ...Object.entries(starts).map(row(startsOfFew)),
      ...Object.entries(await many.costs()).map(row(reference)),
    ]
  } finally {
    many.remove()
  }
}

/** A data directory with transactions in it. */
class Stored {
  #directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-bench-'))

  static async make(count) {
    const made = new Stored()
    made.seconds = await fill(await made.launch(), count)
    return made
  }

  launch() {
    return launchProbedSandbox(['--data-dir', this.#directory, '--confirmation-delay', '0'])
  }

  async costs() {
    const sandbox = await this.launch()
    const requests = await requestTimes(sandbox) // after which all of the ledger is in its place
    const { sandbox: resident, anvil } = residentOf(sandbox)
    const memory = { resident, anvil, heap: await heapOf(sandbox) }
    const audit = await auditTimes(sandbox)
    await sandbox.stop()
    return named({ memory, requests, audit, files: sizes(this.#directory) })
  }

  remove() {
    rmSync(this.#directory, { recursive: true })
  }
}

/** Medians of what starts over several directories take: one start of each after the other, again and again. */
async function startsInTurns(...all) {
  const times = all.map(() => [])
  for (let i = 0; i < STARTS; i++) for (const [at, each] of all.entries()) times[at].push(await start(each))
  const ms = (list, name) => ({ value: median(list.map((one) => one[name])), unit: 'ms' })
  return times.map((list) => ({
    ready: ms(list, 'ready'),
    'processor time until then': ms(list, 'cpu'),
    'the first request with a key': ms(list, 'first'),
  }))
}

/** Milliseconds until a sandbox is ready, of its process's time until then, and of the first request that changes something. */
async function start(stored) {
  const sandbox = await stored.launch()
  const cpu = await cpuOf(sandbox)
  const tenant = await Tenant.connect(sandbox.credentials)
  const first = await timed(() => tenant.endUser('user-0'))
  tenant.close()
  await sandbox.stop()
  return { ready: sandbox.milliseconds, cpu, first }
}

/** Deposits over HTTP; seconds they took. */
async function fill(sandbox, count) {
  const tenant = await Tenant.connect(sandbox.credentials)
  try {
    const portfolios = await openPortfolios(tenant)
    await depositMany(portfolios, 4 * portfolios.length) // hardly any, but pages
    return (await timed(() => depositMany(portfolios, count))) / 1000
  } finally {
    tenant.close()
    await sandbox.stop()
  }
}

/** Milliseconds of a request, one after the other: medians. */
async function requestTimes(sandbox) {
  const tenant = await Tenant.connect(sandbox.credentials)
  try {
    const user = await tenant.endUser('user-0')
    const [portfolio] = await openPortfolios(tenant)
    const middle = await middleOf(user)
    return {
      first: await each(() => user.transactions({ limit: LIMIT })),
      middle: await each(() => user.transactions(middle)),
      deposit: await each(() => portfolio.deposit(1_000)),
    }
  } finally {
    tenant.close()
  }
}

/** Milliseconds of an audit, and of the slowest request for pools while it runs. */
async function auditTimes({ credentials }) {
  const tenant = await Tenant.connect(credentials)
  try {
    let slowest = 0
    let running = true
    const audit = timed(async () => {
      const { ok } = await (await fetch(`${credentials.control_url}/audit`)).json()
      if (!ok) throw new Error('the audit found something wrong')
    }).finally(() => {
      running = false
    })
    while (running) slowest = Math.max(slowest, await timed(() => tenant.pools()))
    return { whole: await audit, slowest }
  } finally {
    tenant.close()
  }
}

/** The query of a page in the middle of all. */
async function middleOf(user) {
  const queries = [{ limit: LIMIT }]
  for (;;) {
    const { next_cursor } = await user.transactions(queries.at(-1))
    if (next_cursor === null) return queries[queries.length >> 1]
    queries.push({ limit: LIMIT, starting_after: next_cursor })
  }
}

async function each(request) {
  const times = []
  for (let i = 0; i < REQUESTS; i++) times.push(await timed(request))
  return median(times)
}

function sizes(directory) {
  const journals = readdirSync(directory).filter((name) => name.endsWith('.journal'))
  return Object.fromEntries(journals.map((name) => [name, statSync(join(directory, name)).size]))
}

function named({ memory, requests, audit, files }) {
  const ms = (value) => ({ value, unit: 'ms' })
  const mib = (bytes) => ({ value: bytes / MEBIBYTE, unit: 'MiB' })
  return {
    'first page': ms(requests.first),
    'page in the middle': ms(requests.middle),
    'a deposit': ms(requests.deposit),
    'an audit': ms(audit.whole),
    'the slowest request meanwhile': ms(audit.slowest),
    "sandbox's memory": mib(memory.resident),
    "sandbox's heap": mib(memory.heap),
    "Anvil's memory": mib(memory.anvil),
    ...Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, mib(bytes)])),
  }
}
