import type { Conclusion } from '../control/contract.ts'
import type { CommandEnding } from '../oracle/outcome.ts'
import { evidenceOf } from './evidence-of.ts'
import { unsettledAfter } from './money-of.ts'
import type { Namespace } from './namespace.ts'

/** Milliseconds to wait for transfers that a command has left under way. */
const SETTLING_MS = 10_000

/** Ends the run of a client in a namespace: removes all faults, waits for the transfers under way, and reads the evidence. */
export async function concludeRun(namespace: Namespace, end: CommandEnding): Promise<Conclusion> {
  const { faults } = namespace.services
  const rules = faults.list()
  faults.clear()
  const unsettled = await unsettledAfter(namespace, SETTLING_MS)
  return { rules, unsettled, evidence: await evidenceOf(namespace, { ended: true, end }) }
}
