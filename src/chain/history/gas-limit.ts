import { numberToHex } from 'viem/utils'

/** The gas limit of every block: room for hundreds of transfers. */
export const GAS_LIMIT = numberToHex(1_000_000_000)
