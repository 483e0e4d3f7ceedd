import { getAddress } from 'viem/utils'

/**
 * @returns true if a string is an Ethereum address: `0x` and 40 hexadecimal digits in one case, or in mixed case with a right EIP-55
 * checksum
 */
export function isEthereumAddress(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return false
  const digits = text.slice(2)
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true
  return getAddress(text) === text
}
