import { expect, test } from 'vitest'
import type { ExchangePage } from '../../src/index.ts'
import { Command } from './command.ts'

const START = ['start', '--port', '0', '--json']

/** Starts a sandbox with these flags, sends it `count` requests for nothing, and gives back what it has of them. */
async function recordedOf(
  flags: readonly string[],
  count: number,
  env: Record<string, string> = {},
): Promise<ExchangePage['data']> {
  const command = new Command([...START, ...flags], { env })
  try {
    const { base_url, control_url } = await command.credentials()
    for (let i = 0; i < count; i++) await (await fetch(`${base_url}/v1/nothing?number=${i}`)).text()
    const page = (await (await fetch(`${control_url}/requests?limit=100`)).json()) as ExchangePage
    return page.data
  } finally {
    command.kill('SIGTERM')
    await command.ended
  }
}

const numbers = (exchanges: ExchangePage['data']) => exchanges.map(({ number }) => number)

test('--record-exchanges keeps so many, the newest; the environment says the same', async () => {
  const env = { YIELD_SANDBOX_RECORD_EXCHANGES: '5' }
  expect(numbers(await recordedOf([], 12, env))).toEqual([12, 11, 10, 9, 8])
})

test('--record-bytes keeps what fits into so much memory, the newest', async () => {
  const kept = numbers(await recordedOf(['--record-bytes', '8KiB'], 30))
  expect(kept[0]).toBe(30)
  expect(kept.length).toBeGreaterThan(1)
  expect(kept.length).toBeLessThan(20)
})
