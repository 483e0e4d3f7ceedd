import { expect, vi } from 'vitest'
import type { AnvilChain } from '../../src/chain/anvil-chain.ts'
import { rpc } from './chain-fixture.ts'

const PATIENCE = { timeout: 15_000, interval: 5 }

/** Kills a chain's Anvil: another one, which does again what the journal holds, must come to the same block. */
export async function expectSameChain(chain: AnvilChain): Promise<void> {
  const block = await rpc<{ number: string; hash: string }>(chain, 'eth_getBlockByNumber', 'latest', false)
  const { pid } = chain
  process.kill(pid, 'SIGKILL')
  await vi.waitFor(() => expect(chain.pid).not.toBe(pid), PATIENCE)
  await vi.waitFor(() => expect(chain.status).toEqual({ ok: true }), PATIENCE)
  expect(await rpc(chain, 'eth_getBlockByNumber', block.number, false)).toMatchObject({ hash: block.hash })
}
