import { AT_ONCE, Savers } from './support/savers.mjs'
import { alternate } from './support/stats.mjs'

const ROUNDS = 5
const OTHERS = [2_000, 5_000]

/** Deposits per second while more and more other end users hold positions, beside the same when nobody else does. */
export async function scale() {
  const savers = await Savers.start()
  const measure = async () => (await alternate({ rate: () => savers.rateAtOnce('deposit') }, ROUNDS)).rate
  try {
    await savers.growTo(AT_ONCE)
    await measure() // warms it up
    const reference = await measure()
    const rows = []
    for (const others of OTHERS) {
      await savers.growTo(AT_ONCE + others)
      rows.push({
        what: `deposits, ${AT_ONCE} at once, ${others.toLocaleString('en')} others hold positions`,
        ...{ value: await measure(), unit: '/s', beside: 'nobody else does', reference, aim: '>= 0.9' },
      })
    }
    return rows
  } finally {
    await savers.stop()
  }
}
