import { Problem } from '../domain/errors.ts'
import type { MoneyOverview, MoneySelection } from '../overview/contract.ts'
import { evidenceOf } from './evidence-of.ts'
import type { Namespace } from './namespace.ts'

/**
 * The money of a namespace's end users. A chain that cannot be reached leaves its values out. Throws Problem sandbox_starting before
 * there is a ledger, and if the namespace is reset meanwhile.
 */
export async function moneyOf(namespace: Namespace, query: MoneySelection): Promise<MoneyOverview> {
  const { store, chains, observer, audit, service } = namespace.services
  return unlessReset(namespace, async () => {
    const facts = await evidenceOf(namespace, { ended: false, end: null })
    // Loaded at the first request: most runs never need it.
    const { moneyOverview } = await import('../overview/money.ts')
    const { clock } = service
    return moneyOverview({ store, chains, observer, clock, facts, audit: () => audit.run() }, query)
  })
}

/** Carries out a reading. If the namespace is reset meanwhile, its parts may be of two states: then throws Problem sandbox_starting. */
async function unlessReset<Result>({ http }: Namespace, read: () => Promise<Result>): Promise<Result> {
  const generation = http.generation()
  const result = await read().catch((error: unknown) => {
    if (!generation.aborted) throw error
  })
  if (result !== undefined && !generation.aborted) return result
  throw new Problem('sandbox_starting', { detail: 'The sandbox was reset meanwhile.' })
}
