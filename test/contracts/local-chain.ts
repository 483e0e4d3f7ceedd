import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createTestClient, type Hex, http, publicActions, walletActions } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'

const require = createRequire(import.meta.url)

/** Anvil's development accounts, by index. */
export const devAccount = (addressIndex: number) =>
  mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex })

/** Fees of every transaction: wallets need no ETH. viem would otherwise propose a tip. */
export const NO_FEES = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }

/** What `scripts/build-chain.mjs` writes for a compiled contract. */
export function compiled(name: 'MarketOwner' | 'SettableRates' | 'TestToken' | 'YieldVault'): {
  abi: readonly unknown[]
  bytecode: Hex
} {
  return require(`../../contracts/out/${name}.json`)
}

/** An Anvil with zero fees on a free port, and a client for it that mines by itself. */
export async function startLocalChain(flags: string[] = []) {
  const binary = require.resolve(
    `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}/bin/anvil`,
  )
  const zeroFees = ['--base-fee', '0', '--gas-price', '0', '--disable-min-priority-fee', '--order', 'fifo']
  const child = spawn(binary, ['--port', '0', '--max-persisted-states', '0', ...zeroFees, ...flags])
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk
      const address = /Listening on ([\d.]+:\d+)/.exec(output)?.[1]
      if (address) resolve(`http://${address}`)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(output)))
  })
  const client = createTestClient({
    mode: 'anvil',
    chain: foundry,
    transport: http(url),
    cacheTime: 0,
    pollingInterval: 50,
  })
    .extend(publicActions)
    .extend(walletActions)
  return {
    client,
    /** Seconds of the latest block. */
    time: async () => Number((await client.getBlock()).timestamp),
    /** Mines a block at this time; the clock goes on from there. */
    async goTo(seconds: number) {
      await client.setNextBlockTimestamp({ timestamp: BigInt(seconds) })
      await client.mine({ blocks: 1 })
    },
    async stop() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** A running chain of {@link startLocalChain}. */
export type LocalChain = Awaited<ReturnType<typeof startLocalChain>>
