import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { FleetProcess, KeyedClient } from './processes.ts'

const MINUTE = 60_000

/** Gives a process the clock of another machine. It reads that by `Date.now` alone. */
const SHIFT = `
const ahead = Number(process.env.CLOCK_AHEAD)
const { now } = Date
Date.now = () => now() + ahead
`

describe.skipIf(noPostgres)(`machines of a fleet have different clocks${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  let server: Postgres
  let folder: string
  beforeAll(async () => {
    server = await Postgres.start()
    folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-clocks-'))
    writeFileSync(join(folder, 'shift.cjs'), SHIFT)
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true })
    await server?.stop()
  })

  const start = async (database: string, ahead: number) => {
    const environment = { NODE_OPTIONS: `--require ${folder}/shift.cjs`, CLOCK_AHEAD: String(ahead) }
    const one = await FleetProcess.start(server.createDatabase(database), { environment })
    onTestFinished(() => void one.end())
    onTestFailed(() => console.error(one.log.join('\n')))
    return one
  }
  const businessTime = async ({ url }: FleetProcess) => {
    const { now } = (await (await fetch(`${url}/_sandbox/clock`)).json()) as { now: string }
    return Date.parse(now)
  }

  test.each([
    ['behind', 2 * MINUTE, -2 * MINUTE],
    ['ahead', -2 * MINUTE, 2 * MINUTE],
  ])('business time goes on by the time that passes when the next owner is %s', async (name, first, second) => {
    const leader = await start(name, first)
    const other = await start(name, second)
    const deposit = async (user: string, { url }: FleetProcess) => {
      const client = new KeyedClient(() => [url], leader.credentials, user)
      await client.open()
      await client.deposit(1_000)
      await client.expectAllOnce(url)
    }
    await deposit('ann', leader)
    const [before, at] = [await businessTime(leader), performance.now()]
    expect(Math.abs(before - (Date.now() + first))).toBeLessThan(MINUTE)
    await leader.end('SIGKILL')
    const after = await eventually(() => businessTime(other))
    const passed = performance.now() - at
    expect(Math.abs(after - before - passed)).toBeLessThan(MINUTE)
    await deposit('ben', other) // whose tokens are of this machine's time
    expect(await businessTime(other)).toBeGreaterThanOrEqual(after)
  })

  test('a move of the clock that was answered holds when its process is killed at once, and nothing else was written', async () => {
    let owner = await start('moved', 0)
    const move = async (body: object) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${owner.url}/_sandbox/clock`, { method: 'POST', headers, body: JSON.stringify(body) })
      expect(answer.status).toBe(200)
      return Date.parse(((await answer.json()) as { now: string }).now)
    }
    for (const body of [{ advance: '30d' }, { advance: '1d', freeze: true }, { advance: '1h' }, { freeze: false }]) {
      const other = await start('moved', 0)
      const moved = await move(body)
      await owner.end('SIGKILL')
      expect(await eventually(() => businessTime(other))).toBeGreaterThanOrEqual(moved)
      owner = other
    }
  })
})
