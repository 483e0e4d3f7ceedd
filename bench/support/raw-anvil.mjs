import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { encodeFunctionData, numberToHex, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { inPackage, launch } from './processes.mjs'

const SUPPLY = parseAbi(['function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)'])
const FEES = ['--base-fee', '0', '--gas-price', '0', '--disable-min-priority-fee', '--order', 'fifo']
const LIMITS = ['--gas-limit', '1000000000', '--max-transactions', '100000000']
const MEMORY = ['--prune-history', '--transaction-block-keeper', '32']
const READY_POLL = 20

/** Starts Anvil's binary from its package, and waits until it says that it listens. */
export function launchAnvil() {
  return launch(anvilBinary(), ['--port', '0'], (line) => line.includes('Listening on'))
}

function anvilBinary() {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  return createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`)
}

/** An Anvil with the sandbox's state and nothing before it: what deposits cost without a service around them. */
export class RawAnvil {
  #agent = new Agent({ keepAlive: true, noDelay: true })
  #anvil
  #url
  #pool
  #accounts

  /** Starts one with so many accounts that can supply to the pool. */
  static async start(pool, accounts) {
    const raw = new RawAnvil()
    const directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-bench-'))
    const state = join(directory, 'state.json')
    writeFileSync(state, gunzipSync(readFileSync(inPackage('contracts/out/market-state.json.gz'))))
    const port = await freePort()
    // As quiet as the sandbox's own: what it would print takes a good part of its time.
    const flags = ['--quiet', '--port', String(port), '--load-state', state, ...FEES, ...LIMITS, ...MEMORY]
    raw.#anvil = spawn(anvilBinary(), flags, { stdio: 'ignore' })
    raw.#url = `http://127.0.0.1:${port}`
    raw.#pool = pool
    await raw.#ready()
    rmSync(directory, { recursive: true })
    raw.#accounts = Array.from({ length: accounts }, () => ({
      account: privateKeyToAccount(generatePrivateKey()),
      nonce: 0,
    }))
    for (const { account } of raw.#accounts) {
      const amount = numberToHex(10n ** 15n)
      await raw.#call('anvil_dealERC20', account.address, pool.token_address, amount)
      await raw.#call('anvil_setERC20Allowance', account.address, pool.market_address, pool.token_address, amount)
    }
    return raw
  }

  /** Signed supplies, one list per account. */
  sign(each, accounts) {
    const sign = async (signer) => {
      const { token_address, market_address, chain_id } = this.#pool
      const args = [token_address, 1_000_000n, signer.account.address, 0]
      const data = encodeFunctionData({ abi: SUPPLY, functionName: 'supply', args })
      const call = { to: market_address, data, gas: 1_000_000n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
      const signed = []
      for (let i = 0; i < each; i++) {
        const nonce = signer.nonce++
        signed.push(
          await signer.account.signTransaction({ type: 'eip1559', chainId: Number(chain_id), nonce, ...call }),
        )
      }
      return signed
    }
    return Promise.all(this.#accounts.slice(0, accounts).map(sign))
  }

  /** Every transaction in a block of its own, each sent when the one before has its receipt. */
  async oneByOne(transactions) {
    await this.#call('evm_setAutomine', true)
    for (const raw of transactions) succeeded([await this.#call('eth_sendRawTransactionSync', raw)])
  }

  /** All at once into one block: the fastest way there is. */
  async together(transactions) {
    await this.#call('evm_setAutomine', false)
    await this.#post(
      transactions.map((raw, id) => ({ jsonrpc: '2.0', id, method: 'eth_sendRawTransaction', params: [raw] })),
    )
    await this.#call('evm_mine')
    succeeded(await this.#call('eth_getBlockReceipts', 'latest'), transactions.length)
  }

  async stop() {
    this.#agent.destroy()
    const exited = once(this.#anvil, 'exit')
    if (this.#anvil.kill()) await exited
  }

  async #ready() {
    while (this.#anvil.exitCode === null) {
      const answer = await this.#call('eth_chainId').catch(() => undefined)
      if (answer) return
      await setTimeout(READY_POLL)
    }
    throw new Error(`anvil ended with ${this.#anvil.exitCode}`)
  }

  async #call(method, ...params) {
    const { result, error } = await this.#post({ jsonrpc: '2.0', id: 1, method, params })
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }

  #post(body) {
    const payload = JSON.stringify(body)
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }
    return new Promise((resolve, reject) => {
      const sent = request(this.#url, { method: 'POST', agent: this.#agent, headers }, (response) => {
        const chunks = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())))
      })
      sent.on('error', reject)
      sent.end(payload)
    })
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

function succeeded(receipts, expected = 1) {
  const good = receipts.filter(({ status }) => status === '0x1').length
  if (good !== expected) throw new Error(`${good} of ${expected} supplies succeeded`)
}
