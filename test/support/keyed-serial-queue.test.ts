import { expect, test } from 'vitest'
import { KeyedSerialQueue } from '../../src/support/serial-queue.ts'

/** A task that ends when it is told to, and the order in which such tasks begin and end. */
function workbench() {
  const seen: string[] = []
  const task = (name: string) => {
    let end: () => void = () => {}
    let fail: () => void = () => {}
    const promise = new Promise<string>((resolve, reject) => {
      end = () => resolve(name)
      fail = () => reject(new Error(name))
    })
    const run = () => {
      seen.push(`${name} begins`)
      return promise.finally(() => seen.push(`${name} ends`))
    }
    return { run, end, fail }
  }
  return { seen, task }
}

const turn = () => new Promise(setImmediate)

test('tasks of one key follow each other, those of another do not wait', async () => {
  const { seen, task } = workbench()
  const queue = new KeyedSerialQueue()
  const [first, second, other] = [task('first'), task('second'), task('other')]
  const results = [queue.run('a', first.run), queue.run('a', second.run), queue.run('b', other.run)]
  second.end()
  other.end()
  await turn()
  expect(seen).toEqual(['first begins', 'other begins', 'other ends'])
  first.end()
  expect(await Promise.all(results)).toEqual(['first', 'second', 'other'])
  expect(seen.slice(3)).toEqual(['first ends', 'second begins', 'second ends'])
})

test('a task that fails rejects for who asked for it, and the next one has its turn', async () => {
  const { task } = workbench()
  const queue = new KeyedSerialQueue()
  const [first, second] = [task('first'), task('second')]
  const failed = queue.run('a', first.run)
  const done = queue.run('a', second.run)
  first.fail()
  second.end()
  await expect(failed).rejects.toThrow('first')
  expect(await done).toBe('second')
})

test('a key is known as long as a task of it runs or waits', async () => {
  const { task } = workbench()
  const queue = new KeyedSerialQueue()
  const [first, second] = [task('first'), task('second')]
  expect(queue.has('a')).toBe(false)
  const results = [queue.run('a', first.run), queue.run('a', second.run)]
  first.end()
  await results[0]
  await turn()
  expect([queue.has('a'), queue.has('b')]).toEqual([true, false])
  second.end()
  await results[1]
  await turn()
  expect(queue.has('a')).toBe(false)
})
