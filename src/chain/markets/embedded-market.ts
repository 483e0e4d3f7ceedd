import { readFile } from 'node:fs/promises'
import type { EmbeddedMarket } from '../../domain/chain-setup.ts'
import { PACKAGE_ROOT } from '../../package-root.ts'
import { accountsOf, type Checkpoint } from '../history/checkpoint.ts'
import type { Block } from '../json-rpc/block.ts'

const BUILT = new URL('contracts/out/', PACKAGE_ROOT)

/** Reads the description of the embedded chain's markets. */
export async function embeddedMarket(): Promise<EmbeddedMarket> {
  return JSON.parse(await readFile(new URL('market.json', BUILT), 'utf8'))
}

/** Reads the checkpoint with which every embedded chain begins. */
export async function embeddedCheckpoint(): Promise<Checkpoint> {
  const [state, market] = await Promise.all(
    ['market-state.json.gz', 'market.json'].map((name) => readFile(new URL(name, BUILT))),
  )
  if (!state || !market) throw new Error('a file that was read is there')
  const { block } = JSON.parse(market.toString()) as { block: Block }
  return { block, accounts: await accountsOf(state) }
}
