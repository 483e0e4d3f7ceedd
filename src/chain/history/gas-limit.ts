import { numberToHex } from 'viem/utils'

/** Of every block: room for hundreds of transfers. */
export const GAS_LIMIT = numberToHex(1_000_000_000)
