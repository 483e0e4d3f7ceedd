import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { depositMany, openPortfolios } from './support/history.mjs'
import { heapOf, launchProbedSandbox, residentOf } from './support/processes.mjs'
import { median, timed } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const COUNTS = [1_000, 100_000]
const STARTS = 3
const REQUESTS = 200
/** Transactions on a page: both sides have full ones, and one in the middle. */
const LIMIT = 8
const MEBIBYTE = 2 ** 20

/** What a sandbox with a data directory costs the more transactions are stored, beside one with hardly any. */
export async function stored() {
  const reference = await costs(0)
  const rows = []
  for (const count of COUNTS) {
    const { seconds, ...values } = await costs(count)
    const many = `${count.toLocaleString('en')} stored`
    rows.push({ what: `making ${count.toLocaleString('en')} transactions`, value: seconds, unit: 's' })
    for (const [what, { value, unit }] of Object.entries(values)) {
      rows.push({ what: `${what}, ${many}`, value, unit, beside: 'none stored', reference: reference[what].value })
    }
  }
  return rows
}

async function costs(count) {
  const directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-bench-'))
  const launch = () => launchProbedSandbox(['--data-dir', directory, '--confirmation-delay', '0'])
  try {
    const seconds = await fill(await launch(), count)
    const starts = []
    let sandbox = await launch()
    for (let i = 1; i < STARTS; i++) {
      starts.push(sandbox.milliseconds)
      await sandbox.stop()
      sandbox = await launch()
    }
    starts.push(sandbox.milliseconds)
    const { sandbox: resident, anvil } = residentOf(sandbox)
    const memory = { resident, anvil, heap: await heapOf(sandbox) }
    const requests = await requestTimes(sandbox)
    const audit = await auditTimes(sandbox)
    await sandbox.stop()
    return { seconds, ...named({ ready: median(starts), memory, requests, audit, files: sizes(directory) }) }
  } finally {
    rmSync(directory, { recursive: true })
  }
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

function named({ ready, memory, requests, audit, files }) {
  const ms = (value) => ({ value, unit: 'ms' })
  const mib = (bytes) => ({ value: bytes / MEBIBYTE, unit: 'MiB' })
  return {
    ready: ms(ready),
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
