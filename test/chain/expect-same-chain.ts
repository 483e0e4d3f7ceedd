import { expect } from 'vitest'
import type { OnDemandChain } from '../../src/chain/on-demand-chain.ts'
import { eventually } from '../helpers/eventually.ts'
import { rpc } from './chain-fixture.ts'

/** Kills a chain's Anvil: another one, which does again what the journal holds, must come to the same block. */
export async function expectSameChain(chain: OnDemandChain): Promise<void> {
  const block = await rpc<{ number: string; hash: string }>(chain, 'eth_getBlockByNumber', 'latest', false)
  const { pid } = chain
  process.kill(pid, 'SIGKILL')
  await eventually(() => expect(chain.pid).not.toBe(pid), 5)
  await eventually(() => expect(chain.status).toEqual({ ok: true }), 5)
  expect(await rpc(chain, 'eth_getBlockByNumber', block.number, false)).toMatchObject({ hash: block.hash })
}
