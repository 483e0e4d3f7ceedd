import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { requestRate } from './support/load.mjs'
import { launchProbedSandbox, launchSandbox, processorTimeWithChildren, residentOf } from './support/processes.mjs'
import { perSecond } from './support/savers.mjs'
import { alternate, median, timed, times } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const MANY = 1_000
const BUSY = 8
const ROUNDS = 9
const DEPOSITS = 20
/** Clients at once in a busy namespace, and deposits of each. */
const AT_ONCE = 64
const EACH = 10
/** Milliseconds until a spare Anvil stands ready again, and the machine is quiet. */
const QUIET = 1_500
/** Namespaces that are made, used and deleted one after another. */
const TESTS = 100
const MIB = 2 ** 20

const INSTANT = ['--confirmation-delay', '0', '--max-namespaces', String(MANY)]

/** What namespaces cost: to make, to use first, to reset, at rest, busy, and at a start. */
export async function namespaces() {
  return [...(await ofOne()), await ofTests(), ...(await ofMany()), ...(await throughput()), ...(await kept())]
}

async function ofOne() {
  const sandbox = await launchSandbox(...INSTANT)
  const [made, first, again] = [[], [], []]
  try {
    await make(sandbox) // the first one has a spare Anvil made
    for (let round = 0; round < ROUNDS; round++) {
      await setTimeout(QUIET)
      let credentials
      made.push(await timed(async () => (credentials = await make(sandbox))))
      const tenant = await Tenant.connect(credentials)
      const alice = await tenant.knownUser('alice')
      const begun = performance.now() // a list needs the chain, too: it wakes it
      const [{ portfolio_id }] = (await alice.portfolios()).data
      await alice.deposit(portfolio_id, 1_000_000)
      first.push(performance.now() - begun)
      for (let i = 0; i < DEPOSITS; i++) await alice.deposit(portfolio_id, 1_000_000)
      again.push(await timed(() => tenant.reset()))
      tenant.close()
    }
  } finally {
    await sandbox.stop()
  }
  return [
    { what: 'namespace made', value: median(made), unit: 'ms', aim: '<= 20 ms' },
    { what: 'list of portfolios and first deposit in a new one', value: median(first), unit: 'ms', aim: '<= 150 ms' },
    { what: `reset of one after ${DEPOSITS} deposits`, value: median(again), unit: 'ms', aim: '<= 50 ms' },
  ]
}

/** A namespace as a test takes one, one after another: made, a deposit of a new end user, deleted. Each begins with the Anvil of the last. */
async function ofTests() {
  const sandbox = await launchSandbox(...INSTANT)
  const aTest = async () => {
    const credentials = await make(sandbox)
    const tenant = await Tenant.connect(credentials)
    const saver = await tenant.saver('alice', (await tenant.pools()).data[0])
    await saver.deposit(1_000_000)
    tenant.close()
    await fetch(credentials.control_url, { method: 'DELETE' })
  }
  try {
    await times(TESTS / 5, 1, aTest)
    const before = processorTimeWithChildren(sandbox.child.pid)
    const wall = await timed(() => times(TESTS, 1, aTest))
    const used = processorTimeWithChildren(sandbox.child.pid) - before
    const what = 'processor time of a namespace made, deposited into and deleted'
    return { what, value: used / TESTS, unit: 'ms', beside: 'by the clock', reference: wall / TESTS }
  } finally {
    await sandbox.stop()
  }
}

async function ofMany() {
  const sandbox = await launchProbedSandbox(INSTANT)
  try {
    await make(sandbox)
    const tenant = await Tenant.connect(sandbox.credentials)
    const options = { headers: { authorization: tenant.authorization }, milliseconds: 2_000 }
    const alone = await requestRate(tenant.poolsUrl, options)
    const before = residentOf(sandbox).sandbox
    const each = (await timed(() => times(MANY - 1, 4, () => make(sandbox)))) / (MANY - 1)
    const after = residentOf(sandbox).sandbox
    const among = await requestRate(tenant.poolsUrl, options)
    tenant.close()
    return [
      { what: `${MANY} namespaces made, each`, value: each, unit: 'ms' },
      { what: `memory of one at rest, of ${MANY}`, value: (after - before) / MANY / MIB, unit: 'MiB', aim: '<= 1 MiB' },
      { what: `memory of a sandbox with ${MANY}`, value: after / MIB, unit: 'MiB', aim: '<= 1536 MiB' },
      {
        what: `GET pools of the default one beside ${MANY}`,
        value: among,
        unit: '/s',
        beside: 'without',
        reference: alone,
      },
    ]
  } finally {
    await sandbox.stop()
  }
}

/** Deposits a second of the default namespace, of one other, and of eight together: as busy as the one each, or all together. */
async function throughput() {
  const sandbox = await launchSandbox(...INSTANT)
  try {
    const others = []
    for (let i = 0; i < BUSY; i++) others.push(await make(sandbox))
    const [first, one, ...rest] = await Promise.all([sandbox.credentials, ...others].map((one) => saversOf(one)))
    const eight = [one, ...rest]
    const shared = eight.flatMap((all) => all.slice(0, AT_ONCE / BUSY))
    const rate = (savers) => () =>
      perSecond(savers.length * EACH, () => Promise.all(savers.map((saver) => repeat(saver, EACH))))
    const measurements = { first: rate(first), one: rate(one), eight: rate(eight.flat()), shared: rate(shared) }
    await alternate(measurements, 1)
    const rates = await alternate(measurements, 5)
    const { anvil, sandbox: own } = residentOf(sandbox)
    const beside = { unit: '/s', beside: 'the default one', reference: rates.first, aim: '>= 1' }
    return [
      { what: `deposits in one namespace, ${AT_ONCE} at once`, value: rates.one, ...beside },
      { what: `deposits in ${BUSY} namespaces, ${AT_ONCE} at once in each`, value: rates.eight, ...beside },
      { what: `… ${AT_ONCE} at once in all`, value: rates.shared, ...beside },
      { what: `memory with ${BUSY} busy ones`, value: own / MIB, unit: 'MiB' },
      { what: '… of all their Anvils', value: anvil / MIB, unit: 'MiB' },
    ]
  } finally {
    await sandbox.stop()
  }
}

/** A start with a thousand that are kept, beside one with none. */
async function kept() {
  const directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-bench-'))
  const flags = [...INSTANT, '--data-dir', join(directory, 'data')]
  try {
    const none = await startsOf(flags)
    const sandbox = await launchSandbox(...flags)
    const each = (await timed(() => times(MANY, 4, () => make(sandbox)))) / MANY
    await sandbox.stop()
    const many = await startsOf(flags)
    return [
      { what: `namespace made and kept, ${MANY} of them, each`, value: each, unit: 'ms' },
      { what: `start with ${MANY} kept`, value: many, unit: 'ms', beside: 'with none', reference: none },
    ]
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function startsOf(flags) {
  const took = []
  for (let i = 0; i < 5; i++) {
    const { milliseconds, stop } = await launchSandbox(...flags)
    took.push(milliseconds)
    await stop()
  }
  return median(took)
}

/** A new namespace of a sandbox: its credentials. */
export async function make({ credentials }) {
  const response = await fetch(`${credentials.control_url}/namespaces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  const made = await response.json()
  if (response.status !== 201) throw new Error(JSON.stringify(made))
  return made
}

/** So many new end users of a namespace, each with a portfolio. */
export async function saversOf(credentials, count = AT_ONCE) {
  const tenant = await Tenant.connect(credentials)
  const { data } = await tenant.pools()
  const pool = data.find(({ protocol, token_symbol }) => protocol === 'aave' && token_symbol === 'USDC')
  const savers = []
  for (let i = 0; i < count; i++) savers.push(await tenant.saver(`user-${i}`, pool))
  return savers
}

async function repeat(saver, count) {
  for (let i = 0; i < count; i++) await saver.deposit(1_000_000)
}
