import { numberToHex } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import type { ChainJournal, History } from '../history/chain-journal.ts'
import { NOBODY } from '../history/chain-operation.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import type { ChainWriter } from './chain-writer.ts'

/**
 * What the chain would be had its last block been mined for somebody else: the same transactions at the same time, and so
 * the same effect, but another hash. An empty block is mined for it when the last one cannot be told from its journal.
 * Nothing else may change the chain meanwhile. Throws ChainUnavailableError.
 */
export async function reorganizedHistory(
  writer: ChainWriter,
  journal: ChainJournal,
  reader: ChainReader,
): Promise<History> {
  await writer.reconcile()
  for (;;) {
    const history = writer.changedByOthers ? undefined : await journal.read()
    const last = history?.operations.findLastIndex((operation) => 'mine' in operation) ?? -1
    const block = history?.operations[last]
    if (history && block && 'mine' in block) {
      const { hash: _, ...same } = block
      const miner = nextAddress(block.miner ?? NOBODY)
      return { ...history, operations: history.operations.with(last, { ...same, miner }) }
    }
    await writer.mine(reader.present)
  }
}

function nextAddress(address: Hex): Hex {
  return numberToHex(BigInt.asUintN(160, BigInt(address) + 1n), { size: 20 })
}
