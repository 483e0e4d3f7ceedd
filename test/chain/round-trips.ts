import { vi } from 'vitest'
import { HttpConnections } from '../../src/chain/json-rpc/http-connections.ts'

/**
 * Number of requests to chains of this process during a task, the least of several times: sandboxes look for foreign transactions in between.
 * `before` runs before each time and is not counted.
 */
export async function roundTrips(
  task: () => Promise<unknown>,
  { times = 5, before = async () => {} }: { times?: number; before?: () => Promise<unknown> } = {},
): Promise<number> {
  const post = vi.spyOn(HttpConnections.prototype, 'post')
  const counts: number[] = []
  for (let i = 0; i < times; i++) {
    await before()
    post.mockClear()
    await task()
    counts.push(post.mock.calls.length)
  }
  post.mockRestore()
  return Math.min(...counts)
}
