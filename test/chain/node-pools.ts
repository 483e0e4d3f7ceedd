import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ChainCopies } from '../../src/chain/anvil-chain.ts'
import { AnvilNode } from '../../src/chain/node/anvil-node.ts'
import { NodePool } from '../../src/chain/node-pool.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { alice, type ChainFixture, chainsForEachTest, order, rpc, silent, startChain } from './chain-fixture.ts'

const OPTIONS = () => ({ idleMs: 1_000_000, clock: new SandboxClock(Date.UTC(2030, 0, 1)) })

export const gone = (pid: number) => expect(() => process.kill(pid, 0)).toThrow('ESRCH')

export const deposit = ({ chain, pool }: ChainFixture) =>
  chain.transfer(order('deposit', pool('aave USDC'), 1_000_000n))
export const height = ({ chain }: ChainFixture) => rpc(chain, 'eth_blockNumber')
export const last = ({ chain }: ChainFixture) => rpc(chain, 'eth_getBlockByNumber', 'latest', true)

/** A chain that the chains of all tests can begin with. */
export interface Template {
  /** It has one deposit. */
  begin: ChainCopies
  /** It has the next one as well, which is its last block. */
  later: ChainCopies
  next: unknown
}

/** The same copy once more, for which a pool keeps other spares. */
export const another = (begin: ChainCopies): ChainCopies =>
  new Map([...begin].map(([id, copy]) => [id, { ...copy }] as const))

/** What tests of pools start, every node of which is noted; it ends with each test. The template is made once. */
function poolParts() {
  const pools: NodePool[] = []
  const nodes: AnvilNode[] = []
  const template = {} as Template
  beforeAll(async () => {
    const fixture = await startChain(OPTIONS())
    await fixture.fund(alice)
    await deposit(fixture)
    template.begin = (await fixture.chains.copy(() => {})).chains
    await deposit(fixture)
    template.next = await last(fixture)
    template.later = (await fixture.chains.copy(() => {})).chains
    await fixture.chains.stop()
  })
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
  const start = chainsForEachTest(OPTIONS)
  return { nodes, poolOf, start, template }
}

export function inPools(tests: (parts: ReturnType<typeof poolParts>) => void): void {
  describe('a pool of nodes', () => tests(poolParts()))
}

/** So many chains make deposits by two nodes. */
export function servesMany({ poolOf, start, template }: ReturnType<typeof poolParts>, count: number): void {
  it('serves many chains with few nodes', async () => {
    const { begin } = template
    const pool = poolOf(2)
    const many = await Promise.all(Array.from({ length: count }, () => start({ begin, pool })))
    const most = vi.fn()
    for (let round = 0; round < 2; round++) {
      await Promise.all(
        many.map(async (fixture) => {
          await deposit(fixture)
          most(pool.nodes)
        }),
      )
    }
    expect(Math.max(...most.mock.calls.flat())).toBe(2)
    const blocks = await Promise.all(many.map((fixture) => rpc(fixture.chain, 'eth_getBlockByNumber', 'latest', false)))
    for (const block of blocks) expect(block).toEqual(blocks[0])
  })
}
