import { randomUUID } from 'node:crypto'
import type { SandboxHandle } from '../../src/index.ts'
import { confirmed } from '../helpers/confirmation.ts'
import { brokeOff } from '../helpers/exchange.ts'
import { type Answer, Partner } from '../helpers/partner.ts'

/** A field of an answer that the client of today knows. */
const KNOWN = ['portfolio_id', 'tx_hash', 'transaction_id', 'deposited', 'total_balance']

/** What both clients have in common: a partner that moves the money of `carol` in one portfolio. */
abstract class Client {
  protected partner: Partner

  constructor(
    protected readonly sandbox: SandboxHandle,
    readonly portfolioId: string,
  ) {
    this.partner = new Partner(sandbox)
  }

  protected transfer(operation: 'deposit' | 'withdraw', amount: string, key: string): Promise<Answer> {
    return this.waiting(this.partner[operation]('carol', this.portfolioId, amount, { key }))
  }

  protected page(cursor: string | null): Promise<Answer> {
    const after = cursor === null ? '' : `&starting_after=${cursor}`
    return this.waiting(this.partner.get(`end_users/carol/transactions?limit=2${after}`))
  }

  /** Business time goes on while a client waits. */
  protected async waiting<T>(request: Promise<T>): Promise<T> {
    const [outcome] = await confirmed(this.sandbox, Promise.allSettled([request]))
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  }
}

/** Does what the specification tells clients to do. */
export class CorrectClient extends Client {
  /** Moves money once. Resolves with the last answer, which may be a refusal. */
  async move(operation: 'deposit' | 'withdraw', amount: string): Promise<Answer> {
    const key = randomUUID()
    return this.#untilAnswered(() => this.transfer(operation, amount, key))
  }

  /** Every transaction there is, in pages; from the beginning again when the cursor has expired. */
  async transactions(): Promise<string[]> {
    const seen = new Set<string>()
    let cursor: string | null = null
    let complete = false
    while (!complete) {
      const from: string | null = cursor
      const { status, body } = await this.#untilAnswered(() => this.page(from))
      for (const { id } of body.data ?? []) seen.add(id)
      cursor = status === 410 ? null : body.next_cursor
      complete = status === 200 && cursor === null
    }
    return [...seen]
  }

  /** Repeats what got no answer or a failure on the service's side; renews tokens once. */
  async #untilAnswered(request: () => Promise<Answer>): Promise<Answer> {
    let renewed = false
    for (let attempt = 0; attempt < 20; attempt++) {
      try {
        const answer = await request()
        if (answer.status === 401 && !renewed) {
          renewed = true
          this.partner = new Partner(this.sandbox)
        } else if (answer.status >= 500 || answer.status === 429) {
          await this.sandbox.clock.advance(1000 * Number(answer.headers.get('retry-after') ?? 1))
        } else {
          return answer
        }
      } catch (error) {
        if (!brokeOff(error)) throw error
      }
    }
    throw new Error('no answer in 20 attempts')
  }
}

/** Makes the mistakes that the scenarios are about. */
export class CarelessClient extends Client {
  /** Takes a fresh key for each attempt, and anything but the answer it expects for a failure. */
  async move(operation: 'deposit' | 'withdraw', amount: string, attempts = 5): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      try {
        const { status, body } = await this.transfer(operation, amount, randomUUID())
        if (status === 200 && Object.keys(body).some((field) => KNOWN.includes(field)) && !isStrange(body)) return
      } catch (error) {
        if (!brokeOff(error)) throw error
      }
    }
  }

  /** Sends once and takes whatever comes for success. */
  async moveBlindly(operation: 'deposit' | 'withdraw', amount: string, key = randomUUID()): Promise<Answer> {
    return this.transfer(operation, amount, key)
  }

  /** Reads pages until one is refused, and takes that for the end. */
  async transactions(): Promise<string[]> {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const { status, body }: Answer = await this.page(cursor)
      if (status !== 200) break
      seen.push(...body.data.map(({ id }: { id: string }) => id))
      cursor = body.next_cursor
    } while (cursor !== null)
    return seen
  }
}

/** Whether a strict parser would refuse it: a field of no version it knows. */
function isStrange(body: object): boolean {
  return Object.keys(body).some((field) => field.startsWith('added_'))
}
