import { expect, it, vi } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { type ChainFixture, rpc } from './chain-fixture.ts'
import { deposit, height, inPools } from './node-pools.ts'

// What no chain may lose, and spares that are lost or too many: node-pool.long.test.ts.
inPools(({ nodes, poolOf, start, template }) => {
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

  it('has a spare ready for a chain that begins with a copy', async () => {
    const begin = await template()
    const plain = await start({ begin })
    await deposit(plain)
    const pool = poolOf(3)
    expect(pool.nodes).toBe(0)
    for (let chain = 0; chain < 2; chain++) pool.prepare(begin) // of a single one, none takes the place
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
})
