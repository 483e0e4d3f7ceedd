import { launchProbedSandbox } from './processes.mjs'
import { timed } from './stats.mjs'
import { Tenant } from './tenant.mjs'

/** How many deposit or withdraw at once, and how often each does in one measurement. */
export const AT_ONCE = 64
const EACH = 10

/** End users of a fresh sandbox without confirmation delay, with portfolios on Aave's USDC. */
export class Savers {
  all = []
  sandbox
  #opened = 0
  #tenant

  /** `flags` are those of `start`. */
  static async start(...flags) {
    const savers = new Savers()
    savers.sandbox = await launchProbedSandbox(['--confirmation-delay', '0', ...flags])
    savers.#tenant = await Tenant.connect(savers.sandbox.credentials)
    const { data } = await savers.#tenant.pools()
    savers.pool = data.find(({ protocol, token_symbol }) => protocol === 'aave' && token_symbol === 'USDC')
    return savers
  }

  /** More end users until there are so many, each with a first deposit. */
  async growTo(total) {
    const open = async () => {
      while (this.#opened < total) {
        const saver = await this.#tenant.saver(`user-${this.#opened++}`, this.pool)
        await saver.deposit(1_000_000_000)
        this.all.push(saver)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, open))
  }

  /** Deposits or withdrawals per second when the first end users make theirs at once, each one after the other. */
  async rateAtOnce(operation, each = EACH) {
    const repeatedly = async (saver) => {
      for (let i = 0; i < each; i++) await saver[operation](1_000_000)
    }
    return perSecond(AT_ONCE * each, () => Promise.all(this.all.slice(0, AT_ONCE).map(repeatedly)))
  }

  async stop() {
    this.#tenant.close()
    await this.sandbox.stop()
  }
}

/** How many a second, when a task does so many. */
export async function perSecond(count, task) {
  return count / ((await timed(task)) / 1000)
}
