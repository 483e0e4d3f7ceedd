import type { CatalogueEntry } from './catalogue-entry.ts'
import { errorCodes, statusCodes } from './error-codes.ts'
import { exitCodes } from './exit-codes.ts'
import { faultKinds, scenarios } from './faults-and-scenarios.ts'
import { findings, outcomes } from './verdict-words.ts'

/** Every word that the sandbox uses of clients, explained: error codes, findings, faults, scenarios, outcomes, exit and status codes. */
export async function catalogue(): Promise<CatalogueEntry[]> {
  const [codes, shipped] = await Promise.all([errorCodes(), scenarios()])
  return [...codes, ...findings(), ...faultKinds(), ...shipped, ...outcomes(), ...exitCodes(), ...statusCodes()]
}
