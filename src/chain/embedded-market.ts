import { readFile } from 'node:fs/promises'
import type { EmbeddedMarket } from '../domain/chain-setup.ts'
import { PACKAGE_ROOT } from '../package-root.ts'

const BUILT = new URL('contracts/out/', PACKAGE_ROOT)

/** Gzipped Anvil state of the embedded chain. */
export const EMBEDDED_STATE = new URL('market-state.json.gz', BUILT)

/** What the embedded chain's state holds. */
export async function embeddedMarket(): Promise<EmbeddedMarket> {
  return JSON.parse(await readFile(new URL('market.json', BUILT), 'utf8'))
}
