import { expect, it } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { deposit, height, inPools, last, servesMany } from './node-pools.ts'

// More chains, what none may lose, and spares that are lost or too many: node-pool.long.test.ts.
inPools((parts) => {
  const { nodes, poolOf, start, template } = parts

  it('puts the chain to rest that was not used for longest when another one needs a node', async () => {
    const { begin } = template
    const pool = poolOf(2)
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => start({ begin, pool })))
    await height(first!)
    await height(second!)
    await height(first!)
    await deposit(third!)
    expect([first, second, third].map((fixture) => fixture!.chain.awake)).toEqual([true, false, true])
    expect(pool.nodes).toBe(2)
  })

  servesMany(parts, 3)

  it('says how many are at work when none is idle, and gives the next one that is', async () => {
    const { begin } = template
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
    const { begin, next } = template
    const pool = poolOf(3)
    expect(pool.nodes).toBe(0)
    for (let chain = 0; chain < 2; chain++) pool.prepare(begin) // of a single one, none takes the place
    const fixture = await start({ begin, pool })
    await eventually(() => expect(nodes).toHaveLength(1))
    const spare = nodes[0]!.process.pid
    await deposit(fixture)
    expect(fixture.chain.pid).toBe(spare)
    expect(await last(fixture)).toEqual(next)
    await eventually(() => expect(pool.nodes).toBe(2)) // another one has taken its place
    expect(await fixture.chain.rest(false)).toBe(true)
    expect(pool.nodes).toBe(1)
    expect(await last(fixture)).toEqual(next)
  })
})
