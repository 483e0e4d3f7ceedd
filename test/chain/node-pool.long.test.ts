import { expect, it } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { rpc } from './chain-fixture.ts'
import { another, deposit, gone, height, inPools, servesMany } from './node-pools.ts'

inPools((parts) => {
  const { nodes, poolOf, start, template } = parts

  servesMany(parts, 6)

  it('takes no node from a chain that never rests, and gives it one in any case', async () => {
    const { begin } = template
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
    const { begin } = template
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

  it('ends a spare for whoever needs a node', async () => {
    const { begin } = template
    const pool = poolOf(1)
    pool.prepare(begin)
    await eventually(() => expect(nodes).toHaveLength(1))
    const fixture = await start({ begin: another(begin), pool })
    await deposit(fixture)
    expect(pool.nodes).toBe(1)
    gone(nodes[0]!.process.pid)
  })

  it('gets over the loss of a spare', async () => {
    const { begin } = template
    const pool = poolOf(2)
    pool.prepare(begin)
    await eventually(() => expect(nodes).toHaveLength(1))
    process.kill(nodes[0]!.process.pid, 'SIGKILL')
    await nodes[0]!.process.exited
    const fixture = await start({ begin, pool })
    expect(await deposit(fixture)).toMatchObject({ status: 'success' })
    pool.prepare(begin)
    await eventually(() => expect(pool.nodes).toBe(2))
  })

  it('keeps spares for a few copies only', async () => {
    const pool = poolOf(10)
    const { begin } = template
    const copies = [begin, ...[1, 2, 3, 4, 5].map(() => another(begin))]
    for (const copy of copies) pool.prepare(copy)
    await eventually(() => expect(nodes.length).toBeGreaterThanOrEqual(4))
    await pool.stop()
    expect(pool.nodes).toBe(0)
    expect(nodes.length).toBeLessThanOrEqual(7)
  })
})
