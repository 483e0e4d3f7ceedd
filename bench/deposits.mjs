import { launchSandbox } from './support/processes.mjs'
import { RawAnvil } from './support/raw-anvil.mjs'
import { alternate, timed } from './support/stats.mjs'
import { Tenant } from './support/tenant.mjs'

const ROUNDS = 5
const AT_ONCE = 64
/** Deposits measured per round: in a row, and by each of those who deposit at once. */
const IN_A_ROW = 150
const EACH = 10

/** Deposits per second without confirmation delay, beside pre-signed transactions straight into an Anvil of the same state. */
export async function deposits() {
  const sandbox = await launchSandbox('--confirmation-delay', '0')
  const tenant = await Tenant.connect(sandbox.credentials)
  const { data } = await tenant.pools()
  const pool = data.find(({ protocol, token_symbol }) => protocol === 'aave' && token_symbol === 'USDC')
  const depositors = []
  for (let i = 0; i < AT_ONCE; i++) depositors.push(await tenant.depositor(`user-${i}`, pool))
  const raw = await RawAnvil.start(pool, AT_ONCE)
  const run = { depositors, raw }
  try {
    const measurements = {
      one: () => depositsInARow(run),
      rawOne: () => suppliesInARow(run),
      many: () => depositsAtOnce(run),
      rawMany: () => suppliesAtOnce(run),
    }
    await alternate(measurements, 1) // warms both up
    const { one, rawOne, many, rawMany } = await alternate(measurements, ROUNDS)
    return [
      { what: 'deposits, one at a time', value: one, unit: '/s', beside: 'raw, each its block', reference: rawOne },
      { what: `deposits, ${AT_ONCE} at once`, value: many, unit: '/s', beside: 'raw, one block', reference: rawMany },
    ]
  } finally {
    tenant.close()
    await Promise.all([raw.stop(), sandbox.stop()])
  }
}

const perSecond = async (count, task) => count / ((await timed(task)) / 1000)

function depositsInARow({ depositors: [deposit] }) {
  return perSecond(IN_A_ROW, async () => {
    for (let i = 0; i < IN_A_ROW; i++) await deposit(1_000_000)
  })
}

function depositsAtOnce({ depositors }) {
  const repeatedly = async (deposit) => {
    for (let i = 0; i < EACH; i++) await deposit(1_000_000)
  }
  return perSecond(AT_ONCE * EACH, () => Promise.all(depositors.map(repeatedly)))
}

async function suppliesInARow({ raw }) {
  const [signed] = await raw.sign(IN_A_ROW, 1)
  return perSecond(IN_A_ROW, () => raw.oneByOne(signed))
}

async function suppliesAtOnce({ raw }) {
  const signed = await raw.sign(EACH, AT_ONCE)
  return perSecond(AT_ONCE * EACH, async () => {
    for (let i = 0; i < EACH; i++) await raw.together(signed.map((own) => own[i]))
  })
}
