import { type HDAccount, mnemonicToAccount } from 'viem/accounts'
import { rpc } from '../../chain/chain-fixture.ts'
import { atSomeMoment } from './client-load.ts'
import type { HarnessDeps } from './harness-parts.ts'

const NOBODYS = `0x${'ab'.repeat(20)}` as const
/** Of Anvil's development accounts, one that nothing else uses. */
const OWN_ACCOUNT = { mnemonic: 'test test test test test test test test test test test junk', addressIndex: 7 }
let account: HDAccount | undefined

/** What somebody may do beside the service without doing any harm. */
export type Meddling = 'move_clock' | 'mine' | 'set_balance' | 'own_transaction'

/** Does it once; whether it succeeds is not of interest. `draw` gives a whole number below its argument. */
export async function meddle(
  what: Meddling,
  { control, memory, rpcUrl }: HarnessDeps,
  draw: (limit: number) => number,
): Promise<void> {
  const done = () => {
    if (what === 'move_clock') return control.moveClock({ advance: `${1 + draw(180)}s` })
    if (what === 'mine') return rpc(rpcUrl, 'evm_mine')
    if (what === 'set_balance') return rpc(rpcUrl, 'anvil_setBalance', NOBODYS, `0x${draw(1_000_000).toString(16)}`)
    return ownTransaction(rpcUrl).then((hash) => hash && memory.own.push(hash))
  }
  await done().catch(() => {})
}

/** Returns the hash of a transaction that was sent, and stands in a block for which it was told so. */
async function ownTransaction(rpcUrl: string): Promise<string | undefined> {
  const { mnemonic, addressIndex } = OWN_ACCOUNT
  account ??= mnemonicToAccount(mnemonic, { addressIndex })
  const chainId = Number(await rpc(rpcUrl, 'eth_chainId'))
  const nonce = Number(await rpc(rpcUrl, 'eth_getTransactionCount', account.address, 'latest'))
  const raw = await account.signTransaction({ type: 'legacy', chainId, nonce, to: NOBODYS, gas: 21_000n, gasPrice: 0n })
  const hash = await rpc<string>(rpcUrl, 'eth_sendRawTransaction', raw)
  await rpc(rpcUrl, 'evm_mine')
  return (await rpc(rpcUrl, 'eth_getTransactionReceipt', hash)) ? hash : undefined
}

/** Moves the clock, and uses the chain's own methods, now and then until it is told to stop. */
export class Operator {
  readonly #running: Promise<void>
  #stopped = false

  constructor(deps: HarnessDeps, does: readonly Meddling[]) {
    const draw = (limit: number) => Math.floor(deps.random.next('operator') * limit)
    this.#running = this.#run(deps, does, draw)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #run(deps: HarnessDeps, does: readonly Meddling[], draw: (limit: number) => number): Promise<void> {
    while (!this.#stopped) {
      await atSomeMoment(draw(400))
      const what = does[draw(does.length)]
      if (what) await meddle(what, deps, draw)
    }
  }
}
