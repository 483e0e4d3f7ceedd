// Anvil's state as it is packed: slim, and the same bytes every time.
import { gunzipSync, gzipSync } from 'node:zlib'

/**
 * Dumps the chain without its transactions and with its last block only, an empty one: a third of the size, and nothing
 * anyone asks for is missing.
 * @param {{ request: (method: string, params?: unknown[]) => Promise<any> }} anvil
 * @param {number} timestamp of the last block
 * @returns {Promise<{ state: string, block: object }>} JSON that `anvil --load-state` reads, and its block
 */
export async function dumpState(anvil, timestamp) {
  await anvil.request('evm_setNextBlockTimestamp', [timestamp])
  await anvil.request('evm_mine')
  const dump = Buffer.from((await anvil.request('anvil_dumpState')).slice(2), 'hex')
  const state = JSON.parse(gunzipSync(dump).toString())
  const block = await anvil.request('eth_getBlockByNumber', ['latest', false])
  return { state: JSON.stringify({ ...state, transactions: [], blocks: lastBlock(state.blocks) }), block }
}

function lastBlock(blocks) {
  const number = ({ header }) => BigInt(header.number)
  return [blocks.reduce((last, block) => (number(block) > number(last) ? block : last))]
}

const GZIP_OS_BYTE = 9
const GZIP_OS_UNKNOWN = 255

/** Gzip with a header that names neither time nor operating system. */
export function gzipReproducibly(text) {
  const bytes = gzipSync(text, { level: 9 })
  bytes[GZIP_OS_BYTE] = GZIP_OS_UNKNOWN
  return bytes
}
