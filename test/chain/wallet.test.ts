import { privateKeyToAccount } from 'viem/accounts'
import { hexToBytes, keccak256, numberToHex } from 'viem/utils'
import { expect, test } from 'vitest'
import { loadWalletOpener } from '../../src/chain/wallets/wallet.ts'

const TO = '0x1111111111111111111111111111111111111111'
const FEES = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }

test("addresses and signatures are viem's, those with leading zeros included", async () => {
  const open = await loadWalletOpener()
  const lengths = new Set<number>()
  for (let nonce = 1000; nonce < 1250; nonce++) {
    const key = keccak256(numberToHex(nonce % 7))
    const [wallet, account] = [open(hexToBytes(key)), privateKeyToAccount(key)]
    expect(wallet.address).toBe(account.address)
    const transaction = { chainId: 31337, to: TO, nonce: nonce - 1000, gas: 1_000_000n, data: key } as const
    const raw = await account.signTransaction({ type: 'eip1559', ...FEES, ...transaction })
    expect(wallet.sign(transaction)).toEqual({ raw_transaction: raw, tx_hash: keccak256(raw) })
    lengths.add(raw.length)
  }
  expect(lengths.size).toBeGreaterThan(1) // a leading zero is not encoded
})

test('what is no private key makes no wallet', async () => {
  const open = await loadWalletOpener()
  expect(() => open(new Uint8Array(32))).toThrow('invalid private key')
})
