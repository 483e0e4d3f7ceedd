import { setTimeout } from 'node:timers/promises'
import { RawAnvil } from './support/raw-anvil.mjs'
import { AT_ONCE, perSecond, Savers } from './support/savers.mjs'
import { alternate } from './support/stats.mjs'

const ROUNDS = 11
/** Until the compiler has seen what is measured. */
const WARM_UP_ROUNDS = 3
/** Deposits measured per round: in a row, and supplies of each account at once. */
const IN_A_ROW = 150
const EACH = 10
/** … of each end user without a pause in which the sandbox could tidy up. */
const EACH_SUSTAINED = 50
/** Milliseconds in which the sandbox has tidied up what is left from the last measurement of its own. */
const QUIET = 2000

/** Transfers per second without confirmation delay, beside pre-signed deposits straight into an Anvil of the same state. */
export async function deposits() {
  const savers = await Savers.start()
  const raw = await RawAnvil.start(savers.pool, AT_ONCE)
  try {
    await savers.growTo(AT_ONCE)
    const measurements = {
      one: () => depositsInARow(savers),
      rawOne: () => suppliesInARow(raw),
      deposits: () => savers.rateAtOnce('deposit'),
      withdrawals: () => savers.rateAtOnce('withdraw'),
      rawMany: () => suppliesAtOnce(raw),
      sustained: () => savers.rateAtOnce('deposit', EACH_SUSTAINED),
    }
    await alternate(measurements, WARM_UP_ROUNDS)
    const { one, rawOne, rawMany, ...many } = await alternate(measurements, ROUNDS)
    const beside = { unit: '/s', beside: 'raw deposits, one block', reference: rawMany, aim: '>= 0.6' }
    return [
      { what: 'deposits, one at a time', value: one, unit: '/s', beside: 'raw, each its block', reference: rawOne },
      { what: `deposits, ${AT_ONCE} at once`, value: many.deposits, ...beside },
      { what: `withdrawals, ${AT_ONCE} at once`, value: many.withdrawals, ...beside },
      { what: `deposits, ${AT_ONCE} at once, ${AT_ONCE * EACH_SUSTAINED} on end`, value: many.sustained, ...beside },
    ]
  } finally {
    await Promise.all([raw.stop(), savers.stop()])
  }
}

function depositsInARow({ all: [saver] }) {
  return perSecond(IN_A_ROW, async () => {
    for (let i = 0; i < IN_A_ROW; i++) await saver.deposit(1_000_000)
  })
}

async function suppliesInARow(raw) {
  const [signed] = await raw.sign(IN_A_ROW, 1)
  await setTimeout(QUIET)
  return perSecond(IN_A_ROW, () => raw.oneByOne(signed))
}

async function suppliesAtOnce(raw) {
  const signed = await raw.sign(EACH, AT_ONCE)
  await setTimeout(QUIET)
  return perSecond(AT_ONCE * EACH, async () => {
    for (let i = 0; i < EACH; i++) await raw.together(signed.map((own) => own[i]))
  })
}
