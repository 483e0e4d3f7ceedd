import { expect, test } from 'vitest'
import { Slots } from '../../src/support/serial-queue.ts'

const never = new Promise(() => {})

test('slots are handed on in turn, and to nobody who has stopped waiting', async () => {
  const slots = new Slots(2)
  const [first, second] = [await slots.take(never), await slots.take(never)]
  const order: string[] = []
  let lose: (value: unknown) => void = () => {}
  const impatient = slots.take(
    new Promise((resolve) => {
      lose = resolve
    }),
  )
  const waiting = ['third', 'fourth'].map(async (name) => {
    const release = await slots.take(never)
    order.push(name)
    return release
  })
  lose(undefined)
  expect(await impatient).toBeUndefined()
  first!()
  second!()
  const releases = await Promise.all(waiting)
  expect(order).toEqual(['third', 'fourth'])
  for (const release of releases) release!()
  expect(await slots.take(Promise.resolve())).toBeTypeOf('function')
})
