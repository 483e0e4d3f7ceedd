import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { encodeFunctionData, numberToHex, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { inPackage, launch } from './processes.mjs'

const SUPPLY = parseAbi(['function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)'])
const FEES = ['--base-fee', '0', '--gas-price', '0', '--disable-min-priority-fee', '--order', 'fifo']
const LIMITS = ['--gas-limit', '1000000000', '--max-transactions', '100000000', '--max-persisted-states', '0']

/** Starts Anvil's binary from its package. */
export function launchAnvil(...flags) {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const binary = createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`)
  return launch(binary, ['--port', '0', ...flags], (line) => line.includes('Listening on'))
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
    raw.#anvil = await launchAnvil('--load-state', state, ...FEES, ...LIMITS)
    rmSync(directory, { recursive: true })
    raw.#url = `http://${raw.#anvil.line.match(/[\d.]+:\d+/)[0]}`
    raw.#pool = pool
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
    await this.#anvil.stop()
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

function succeeded(receipts, expected = 1) {
  const good = receipts.filter(({ status }) => status === '0x1').length
  if (good !== expected) throw new Error(`${good} of ${expected} supplies succeeded`)
}
