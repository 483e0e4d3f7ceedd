import { afterEach, beforeEach, describe, expect, vi } from 'vitest'
import { AnvilNode } from '../../src/chain/node/anvil-node.ts'
import { NodePool } from '../../src/chain/node-pool.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { alice, type ChainFixture, chainsForEachTest, order, rpc, silent } from './chain-fixture.ts'

const START = Date.UTC(2030, 0, 1)

export const gone = (pid: number) => expect(() => process.kill(pid, 0)).toThrow('ESRCH')

export const deposit = ({ chain, pool }: ChainFixture) =>
  chain.transfer(order('deposit', pool('aave USDC'), 1_000_000n))
export const height = ({ chain }: ChainFixture) => rpc(chain, 'eth_blockNumber')

/** What tests of pools start, every node of which is noted; it ends with each test. */
function poolParts() {
  const pools: NodePool[] = []
  const nodes: AnvilNode[] = []
  const poolOf = (maxNodes: number, options: { placeTimeout?: number; clock?: SandboxClock } = {}) => {
    const pool = new NodePool({ clock: new SandboxClock(), ...options, maxNodes, log: silent })
    pools.push(pool)
    return pool
  }
  beforeEach(() => {
    const begin = AnvilNode.start.bind(AnvilNode)
    vi.spyOn(AnvilNode, 'start').mockImplementation(async (...given) => {
      const node = await begin(...given)
      nodes.push(node)
      return node
    })
  })
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.stop()))
    vi.restoreAllMocks()
    for (const { process } of nodes.splice(0)) gone(process.pid)
  })
  // After the hooks above, so that its own, which ends the chains, comes first.
  const start = chainsForEachTest(() => ({ idleMs: 1_000_000, clock: new SandboxClock(START) }))

  /** Where the others begin, with a deposit in it. */
  const template = async () => {
    const fixture = await start()
    await fixture.fund(alice)
    await deposit(fixture)
    const { chains } = await fixture.chains.copy(() => {})
    await fixture.chains.stop()
    return chains
  }
  return { nodes, poolOf, start, template }
}

export function inPools(tests: (parts: ReturnType<typeof poolParts>) => void): void {
  describe('a pool of nodes', () => tests(poolParts()))
}
