import { expect } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'

/** Moves business time on, ten seconds a step, until the request is answered. */
export async function confirmed<T>(sandbox: SandboxHandle, request: Promise<T>): Promise<T> {
  let answered = false
  const settled = request.finally(() => {
    answered = true
  })
  // A block is mined at every step: they must not come faster than blocks do.
  const step = async () => {
    if (!answered) await sandbox.clock.advance(10_000)
    return answered
  }
  await expect.poll(step, { interval: 15 }).toBe(true)
  return settled
}

/** Resolves when the action's transaction stands in a block and waits to be confirmed; its request is unanswered. */
export async function mined<T>(sandbox: SandboxHandle, action: () => Promise<T>): Promise<{ request: Promise<T> }> {
  const before = await latestBlock(sandbox)
  const request = action()
  request.catch(() => undefined)
  await expect.poll(() => hasTransactionSince(sandbox, before), { interval: 5 }).toBe(true)
  for (let i = 0; i < 3; i++) await turn(sandbox)
  return { request }
}

/** Whether a promise is still open, once everything under way had its turn. */
export async function isOpen(sandbox: SandboxHandle, promise: Promise<unknown>): Promise<boolean> {
  let open = true
  const close = () => {
    open = false
  }
  promise.then(close, close)
  for (let i = 0; i < 3; i++) await turn(sandbox)
  return open
}

/** One exchange with the sandbox. */
async function turn(sandbox: SandboxHandle): Promise<void> {
  await (await fetch(`${sandbox.controlUrl}/health`)).arrayBuffer()
}

async function latestBlock(sandbox: SandboxHandle): Promise<number> {
  return Number(await sandbox.chain.request({ method: 'eth_blockNumber' } as never))
}

async function hasTransactionSince(sandbox: SandboxHandle, block: number): Promise<boolean> {
  for (let number = await latestBlock(sandbox); number > block; number--) {
    const method = 'eth_getBlockTransactionCountByNumber'
    const count = await sandbox.chain.request({ method, params: [`0x${number.toString(16)}`] } as never)
    if (Number(count) > 0) return true
  }
  return false
}
