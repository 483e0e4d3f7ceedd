import { request } from 'node:http'
import type { SandboxClock } from '../../src/domain/clock.ts'

/** A deposit or withdrawal to be asked for. */
export interface Transfer {
  operation: 'deposit' | 'withdraw'
  external_id: string
  portfolio: string
  amount: string
  key: string
}

/** How a request ended for its client. */
export interface Ending {
  /** `200`, status and code of an error, `502 not JSON`, or what became of the connection. */
  what: string
  replay: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
  /** Business time, in milliseconds. */
  at: number
}

/** Node's words for it. */
const CONNECTION: Record<string, string> = {
  'read ECONNRESET': 'reset',
  'socket hang up': 'closed',
  aborted: 'half a body',
  'The operation was aborted': 'given up',
}

/** A request over a connection of its own, which can be given up. */
export class Attempt {
  readonly ending: Promise<Ending>
  ended = false
  readonly #abort = new AbortController()

  constructor(baseUrl: string, transfer: Transfer, tokens: { idp: string; user: string }, clock: SandboxClock) {
    this.ending = this.#send(baseUrl, transfer, tokens).then(
      (answer) => ({ ...answer, at: clock.now() }),
      (error: Error) => {
        const what = CONNECTION[error.message] ?? error.message
        return { what, replay: undefined, body: {}, at: clock.now() }
      },
    )
    void this.ending.then(() => {
      this.ended = true
    })
  }

  /** Closes the connection, as a client does whose patience is over. */
  async giveUp(): Promise<void> {
    this.#abort.abort()
    await this.ending
  }

  #send(
    baseUrl: string,
    { operation, external_id, portfolio, amount, key }: Transfer,
    tokens: { idp: string; user: string },
  ): Promise<Omit<Ending, 'at'>> {
    const headers = {
      authorization: `Bearer ${tokens.idp}`,
      'x-user-token': tokens.user,
      'idempotency-key': key,
      'content-type': 'application/json',
    }
    const url = `${baseUrl}/v1/partner/end_users/${external_id}/${operation}`
    const options = { method: 'POST', headers, agent: false, signal: this.#abort.signal }
    return new Promise((resolve, reject) => {
      const outgoing = request(url, options, (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const replay = incoming.headers['idempotency-key-replay']
          resolve({ ...read(incoming.statusCode, Buffer.concat(chunks).toString()), replay: replay?.toString() })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(JSON.stringify({ portfolio_id: portfolio, amount_minor: amount }))
    })
  }
}

function read(status: number | undefined, text: string): Pick<Ending, 'what' | 'body'> {
  try {
    const body = JSON.parse(text)
    return { what: body.code === undefined ? `${status}` : `${status} ${body.code}`, body }
  } catch {
    return { what: `${status} not JSON`, body: {} }
  }
}
