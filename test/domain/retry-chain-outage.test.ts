import { expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { ChainUnavailableError, NoNodeFreeError } from '../../src/domain/ports/chain.ts'
import { retryChainOutage } from '../../src/domain/retry-chain-outage.ts'
import { toProblem } from '../../src/http/problem.ts'

/** How often a task was tried that fails with these errors first, and what came of it. */
async function tries(...errors: Error[]): Promise<[number, unknown]> {
  let times = 0
  const task = async () => {
    const error = errors[times++]
    if (error) throw error
  }
  const clock = new SandboxClock()
  const outcome = await retryChainOutage(task, { clock, ended: () => false }).catch((error: unknown) => error)
  return [times, outcome]
}

test('a chain that was lost is waited for', async () => {
  expect(await tries(new ChainUnavailableError('1', 'it is being started'))).toEqual([2, undefined])
})

test('one that gets no node is not: that took long already, and who asked is told why', async () => {
  const full = new NoNodeFreeError('31337', '64 Anvils are at work: see --max-nodes')
  expect(await tries(full)).toEqual([1, full])
  const { code, message } = toProblem(full)
  expect(code).toBe('chain_unavailable')
  expect(message).toContain('Chain 31337 cannot be reached: 64 Anvils are at work: see --max-nodes.')
})

test('nor is anything else', async () => {
  const other = new Error('a bug')
  expect(await tries(other)).toEqual([1, other])
})
