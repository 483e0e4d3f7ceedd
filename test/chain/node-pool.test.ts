import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AnvilNode } from '../../src/chain/node/anvil-node.ts'
import { NodePool } from '../../src/chain/node-pool.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { eventually } from '../helpers/eventually.ts'
import { alice, type ChainFixture, chainsForEachTest, order, rpc, silent } from './chain-fixture.ts'

const START = Date.UTC(2030, 0, 1)

const gone = (pid: number) => expect(() => process.kill(pid, 0)).toThrow('ESRCH')

describe('a pool of nodes', () => {
  const pools: NodePool[] = []
  const nodes: AnvilNode[] = []
  const poolOf = (maxNodes: number, options: { placeTimeout?: number } = {}) => {
    const pool = new NodePool({ ...options, maxNodes, clock: new SandboxClock(), log: silent })
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
  const deposit = ({ chain, pool }: ChainFixture) => chain.transfer(order('deposit', pool('aave USDC'), 1_000_000n))
  const height = ({ chain }: ChainFixture) => rpc(chain, 'eth_blockNumber')

  it('puts the chain to rest that was not used for longest when another one needs a node', async () => {
    const begin = await template()
    const pool = poolOf(2)
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => start({ begin, pool })))
    await height(first!)
    await height(second!)
    await height(first!)
    await deposit(third!)
    expect([first, second, third].map((fixture) => fixture!.chain.awake)).toEqual([true, false, true])
    await Promise.all([first, second, third].map((fixture) => deposit(fixture!)))
    expect(pool.nodes).toBe(2)
    expect(await Promise.all([first, second, third].map((fixture) => height(fixture!)))).toHaveLength(3)
  })

  it('serves many chains with few nodes', async () => {
    const begin = await template()
    const pool = poolOf(2)
    const many = await Promise.all(Array.from({ length: 5 }, () => start({ begin, pool })))
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

  it('says how many are at work when none is idle, and gives the next one that is', async () => {
    const begin = await template()
    const pool = poolOf(1, { placeTimeout: 1_000 })
    const [first, second] = [await start({ begin, pool }), await start({ begin, pool })]
    await height(first)
    let release = () => {}
    const held = first.chains.copy(() => new Promise<void>((resolve) => (release = resolve)))
    await expect(height(second)).rejects.toThrow(
      'chain 31337 cannot be reached: 1 Anvils are at work, as many as may be at once, and none of them is idle: see --max-nodes',
    )
    const waiting = height(second)
    release()
    await held
    await waiting
    expect(first.chain.awake).toBe(false)
  })

  it('takes no node from a chain that never rests, and gives it one in any case', async () => {
    const begin = await template()
    const pool = poolOf(1, { placeTimeout: 1_000 })
    const first = await start({ begin, pool })
    await height(first)
    const own = await start({ idleMs: undefined, pool })
    expect(pool.nodes).toBe(2)
    await expect(height(await start({ begin, pool }))).rejects.toThrow('1 Anvils are at work')
    expect(own.chain.awake).toBe(true)
    expect(first.chain.awake).toBe(false)
  })

  it('takes no node that alone has something of others', async () => {
    const begin = await template()
    const pool = poolOf(2)
    const [first, second, third] = [
      await start({ begin, pool }),
      await start({ begin, pool }),
      await start({ begin, pool }),
    ]
    const id = await rpc(first.chain, 'evm_snapshot')
    await height(second)
    await height(third)
    expect(await rpc(first.chain, 'evm_revert', id)).toBe(true)
  })

  it('has a spare ready for a chain that begins with a copy', async () => {
    const begin = await template()
    const plain = await start({ begin })
    await deposit(plain)
    const pool = poolOf(3)
    expect(pool.nodes).toBe(0)
    pool.prepare(begin)
    const fixture = await start({ begin, pool })
    await eventually(() => expect(nodes).toHaveLength(3)) // the template's, the plain one's, the spare
    const spare = nodes.at(-1)!.process.pid
    await deposit(fixture)
    expect(fixture.chain.pid).toBe(spare)
    const last = ({ chain }: ChainFixture) => rpc(chain, 'eth_getBlockByNumber', 'latest', true)
    expect(await last(fixture)).toEqual(await last(plain))
    await eventually(() => expect(pool.nodes).toBe(2)) // another one has taken its place
    expect(await fixture.chain.rest(false)).toBe(true)
    expect(pool.nodes).toBe(1)
    expect(await last(fixture)).toEqual(await last(plain))
  })

  it('ends a spare for whoever needs a node', async () => {
    const begin = await template()
    const other = await template()
    const pool = poolOf(1)
    pool.prepare(begin)
    await eventually(() => expect(nodes).toHaveLength(3))
    const fixture = await start({ begin: other, pool })
    await deposit(fixture)
    expect(pool.nodes).toBe(1)
    gone(nodes[2]!.process.pid)
  })

  it('gets over the loss of a spare', async () => {
    const begin = await template()
    const pool = poolOf(2)
    pool.prepare(begin)
    await eventually(() => expect(nodes).toHaveLength(2))
    process.kill(nodes[1]!.process.pid, 'SIGKILL')
    await nodes[1]!.process.exited
    const fixture = await start({ begin, pool })
    expect(await deposit(fixture)).toMatchObject({ status: 'success' })
    pool.prepare(begin)
    await eventually(() => expect(pool.nodes).toBe(2))
  })

  it('keeps spares for a few copies only', async () => {
    const pool = poolOf(10)
    const first = await template()
    const copies = [
      first,
      ...[1, 2, 3, 4, 5].map(() => new Map([...first].map(([id, copy]) => [id, { ...copy }] as const))),
    ]
    for (const copy of copies) pool.prepare(copy)
    await eventually(() => expect(nodes.length).toBeGreaterThanOrEqual(5))
    await pool.stop()
    expect(pool.nodes).toBe(0)
    expect(nodes.length).toBeLessThanOrEqual(8)
  })
})
