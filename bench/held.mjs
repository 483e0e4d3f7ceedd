import { heapOf, launchProbedSandbox, residentOf } from './support/processes.mjs'
import { quantile, times } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const USERS = 1_000
const PORTFOLIOS_EACH = 10
const AT_ONCE = 64
const MEBIBYTE = 2 ** 20

/**
 * 10,000 deposits held at once, each on a connection of its own, under a confirmation delay of 5 to 30 seconds: whether all
 * are answered, how late, and what memory that takes. Late is an answer by the time that passes between the end of its
 * delay, as the sandbox's log has it, and its arrival in this process.
 */
export async function held() {
  const log = []
  const flags = ['--confirmation-delay', '5s-30s', '--log-level', 'debug']
  const sandbox = await launchProbedSandbox(flags, (piece) => log.push(piece))
  const tenant = await Tenant.connect(sandbox.credentials)
  try {
    const portfolios = await open(tenant)
    const before = { ...residentOf(sandbox), heap: await heapOf(sandbox) }
    const peak = { ...before }
    const watch = setInterval(() => {
      const now = residentOf(sandbox)
      for (const name of ['sandbox', 'anvil']) peak[name] = Math.max(peak[name], now[name])
    }, 1_000)
    const begun = performance.now()
    const answers = await Promise.allSettled(portfolios.map(deposit))
    const seconds = (performance.now() - begun) / 1000
    clearInterval(watch)
    tenant.close()
    const after = { ...residentOf(sandbox), heap: await heapOf(sandbox) }
    return rows({ answers, due: dueTimes(log.join('')), seconds, before, peak, after })
  } finally {
    tenant.close()
    await sandbox.stop()
  }
}

async function open(tenant) {
  const { data } = await tenant.pools()
  const portfolios = []
  await times(USERS, AT_ONCE, async (i) => {
    const user = await tenant.endUser(`user-${i}`)
    for (let j = 0; j < PORTFOLIOS_EACH; j++) portfolios.push(await user.portfolio(data[j % data.length]))
  })
  return portfolios
}

async function deposit(portfolio) {
  const text = await portfolio.deposit(1_000_000)
  return { text, at: Date.now() }
}

/** When each transaction's delay was over, in milliseconds since the epoch, by its id. */
function dueTimes(log) {
  const mined = log.split('\n').filter((line) => line.includes('"transfer mined"'))
  return new Map(
    mined.map((line) => JSON.parse(line)).map((entry) => [entry.transaction_id, entry.time + entry.delay_ms]),
  )
}

function rows({ answers, due, seconds, before, peak, after }) {
  const good = answers.filter(({ status }) => status === 'fulfilled').map(({ value }) => value)
  const failure = answers.find(({ status }) => status === 'rejected')?.reason
  if (failure) process.stderr.write(`${answers.length - good.length} failed, such as: ${failure.message}\n`)
  const late = good.map(({ text, at }) => at - due.get(JSON.parse(text).transaction_id))
  const what = `of ${answers.length.toLocaleString('en')} deposits held`
  const lateness = (name, value) => ({ what: `late, ${name} ${what}`, value, unit: 'ms' })
  const memory = (name, of) => [
    {
      what: `${name} at the peak`,
      value: peak[of] / MEBIBYTE,
      unit: 'MiB',
      beside: 'before',
      reference: before[of] / MEBIBYTE,
    },
    {
      what: `${name} afterwards`,
      value: after[of] / MEBIBYTE,
      unit: 'MiB',
      beside: 'before',
      reference: before[of] / MEBIBYTE,
    },
  ]
  return [
    { what: `answered 200 ${what}`, value: good.length, beside: 'sent', reference: answers.length, aim: '1' },
    { what: 'until the last is answered', value: seconds, unit: 's' },
    lateness('median', quantile(late, 0.5)),
    lateness('99th percentile', quantile(late, 0.99)),
    lateness('last', quantile(late, 1)),
    ...memory("sandbox's memory", 'sandbox'),
    memory("sandbox's heap", 'heap')[1],
    ...memory("Anvil's memory", 'anvil'),
  ]
}
