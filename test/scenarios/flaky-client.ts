import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { brokeOff } from '../helpers/exchange.ts'
import { type Answer, type Ask, Partner } from '../helpers/partner.ts'

/** Of a client as libraries make them: the first, and three more. */
const ATTEMPTS = 4

/** Has a right client work in a namespace with a flaky network, and holds that it gets through and is not blamed. */
export async function getsThrough(sandbox: SandboxHandle, seed: number): Promise<void> {
  await using mine = await sandbox.namespaces.create({ seed })
  await mine.scenarios.start('flaky-network')
  const client = new Client(mine)
  const { data: portfolios } = await client.send('GET', 'end_users/alice/portfolios')
  const [{ portfolio_id }] = portfolios
  const move = (operation: string, amount_minor: string) =>
    client.send('POST', `end_users/alice/${operation}`, { body: { portfolio_id, amount_minor } })
  await move('deposit', '3000000')
  await move('deposit', '2000000')
  await move('withdraw', '1000000')
  await client.send('GET', 'end_users/alice/transactions?limit=100')
  const stopped = await mine.scenarios.stop()
  expect(stopped?.faults.some(({ hits }) => hits > 0)).toBe(true)
  const { findings } = await mine.report({ ended: true })
  expect(findings.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  expect(await transactionsOf(mine)).toBe((await transactionsOf(sandbox)) + 3)
}

/** How many alice has, those of the fixture included. */
async function transactionsOf(namespace: SandboxHandle): Promise<number> {
  const { body } = await new Partner(namespace).get('end_users/alice/transactions?limit=100')
  return body.data.length
}

/** Repeats what had no answer, or 503, under the same key. */
class Client {
  readonly #partner: Partner

  constructor(namespace: SandboxHandle) {
    this.#partner = new Partner(namespace)
  }

  async send(method: 'GET' | 'POST', path: string, ask: Ask = {}): Promise<Answer['body']> {
    await this.#attempts(() => this.#token())
    const key = method === 'POST' ? randomUUID() : null
    const { status, body } = await this.#attempts(() => this.#partner.ask(method, path, { ...ask, key }))
    expect([200, 201], `${method} ${path}: ${status} ${JSON.stringify(body)}`).toContain(status)
    return body
  }

  /** The partner keeps what is a token, and would keep what is none. */
  async #token(): Promise<Pick<Answer, 'status' | 'headers'>> {
    const token = await this.#partner.idpToken()
    return { status: token === undefined ? 503 : 200, headers: new Headers({ 'retry-after': '1' }) }
  }

  async #attempts<T extends Pick<Answer, 'status' | 'headers'>>(request: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await request()
        if (answer.status < 500 || attempt === ATTEMPTS) return answer
        await wait(1000 * Number(answer.headers.get('retry-after') ?? 0))
      } catch (error) {
        if (!brokeOff(error) || attempt === ATTEMPTS) throw error
      }
    }
  }
}
