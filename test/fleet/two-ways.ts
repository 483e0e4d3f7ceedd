import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { expect } from 'vitest'
import type { Owner, OwnerPlace } from '../../src/fleet/owner.ts'
import { Listener } from '../../src/http/listener.ts'
import type { FaultRule } from '../../src/index.ts'
import type { SandboxOptions } from '../../src/options.ts'
import { answerForwarded, leadToOwners, openFleetListener } from '../../src/sandbox/front.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Partner, partnerAt } from '../helpers/partner.ts'

/** A connection whose bytes and end are noted. */
export class RawClient {
  readonly socket: Socket
  /** Its own, from when it is connected. */
  port: number | undefined
  #text = ''
  #end: 'open' | 'FIN' | 'RST' = 'open'

  constructor(url: string) {
    const { protocol, hostname, port } = new URL(url)
    const at = { host: hostname, port: Number(port), allowHalfOpen: true }
    this.socket = protocol === 'https:' ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at)
    this.socket.setNoDelay(true)
    this.socket.once('connect', () => {
      this.port = this.socket.localPort
    })
    this.socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1')
    })
    this.socket.on('end', () => this.#note('FIN'))
    this.socket.on('error', () => this.#note('RST'))
    this.socket.on('close', () => this.#note('FIN'))
  }

  #note(end: 'FIN' | 'RST'): void {
    if (this.#end === 'open') this.#end = end
    this.socket.end()
  }

  write(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.socket.write(bytes, () => resolve())
    })
  }

  get text(): string {
    return this.#text
  }

  get end(): 'open' | 'FIN' | 'RST' {
    return this.#end
  }

  /** Resolves when that many complete answers have come, or the server has ended the connection. `toHead`: the last one is to HEAD. */
  async answers(count: number, toHead = false): Promise<void> {
    await eventually(() => expect(this.#end !== 'open' || answersIn(this.#text, toHead) >= count).toBe(true))
  }

  /** Resolves when the server has ended the connection. */
  async ended(): Promise<void> {
    await expect.poll(() => this.#end).not.toBe('open')
  }

  /** Resolves when the server has ended the connection, if it has announced that in an answer: the end may come later than the answer. */
  async announcedEnd(): Promise<void> {
    if (/^connection: close\r$/im.test(this.#text)) await this.ended()
  }

  /** All that was received, but for the time: header by header, byte by byte. */
  get received(): { text: string; end: string } {
    return { text: this.#text.replaceAll(/^Date: .*\r\n/gim, 'Date: *\r\n'), end: this.#end }
  }
}

/** Number of whole answers in a text; of answers to HEAD too, which have a length but no body. `toHead`: the last one is to HEAD. */
function answersIn(text: string, toHead: boolean): number {
  const heads = [...text.matchAll(/HTTP\/1\.1 (\d{3}) [\s\S]*?\r\n\r\n/g)].filter(([, status]) => status !== '100')
  const last = heads.at(-1)
  if (!last || toHead) return heads.length
  const [head] = last
  const body = text.slice(last.index + head.length)
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.NaN)
  const isWhole = Number.isNaN(length) ? body.endsWith('0\r\n\r\n') : body.length >= length
  return heads.length - (isWhole ? 0 : 1)
}

/** A request as bytes; `headers` without those that every request has. */
export interface Shape {
  method?: string
  path?: string
  version?: string
  headers?: string[]
  /** Null for none. */
  body?: string | null
}

/** What a case plays with. */
export interface Stage {
  url: string
  partner: Partner
  portfolio: string
  /** A deposit with a body of the right length, whose lines may be replaced or added. */
  deposit(shape?: Shape): string
  /** A list of pools. */
  pools(shape?: Shape): string
  control(method: string, path: string, body?: unknown): Promise<unknown>
  open(): RawClient
}

/** Sends bytes on a connection of its own and waits for as many answers, or for its end. A request for HEAD stands alone or before others. */
export async function ask({ open }: Stage, bytes: string, answers = 1): Promise<RawClient> {
  const client = open()
  await client.write(bytes)
  await client.answers(answers, answers === 1 && bytes.startsWith('HEAD '))
  return client
}

/** Resolves when the owner has begun to answer a request. */
export async function recorded({ control }: Stage, count = 1): Promise<void> {
  await eventually(async () => expect(await control('GET', 'requests')).toMatchObject({ data: { length: count } }))
}

/** One sandbox that is asked directly and through a process that only forwards. */
export class TwoWays {
  static async start(options: SandboxOptions = {}): Promise<TwoWays> {
    // A clock that stands still and a seed: every run after a reset has the same ids and hashes.
    const owner = await Sandbox.listen({
      port: 0,
      confirmationDelay: 0,
      seed: 7,
      clock: '2027-01-01T00:00:00Z',
      ...options,
    })
    await owner.ready
    const secret = randomBytes(32).toString('base64url')
    const passed = await openFleetListener({ host: '127.0.0.1', port: 0 })
    await answerForwarded(passed, secret, () => owner.server)
    const fleet = new URL(passed.url)
    const address: Owner = { host: fleet.hostname, port: Number(fleet.port), secret }
    // Fetched before anything is compared: a later run would have one request less.
    const partner = partnerAt(await owner.credentials())
    await partner.insistOnOpening('alice')
    return new TwoWays(owner, partner, address, passed, await TwoWays.front(owner, () => address))
  }

  /** A process that owns nothing, as far as clients see it. */
  static async front(
    { namespace }: Sandbox,
    ownerOf: (failed?: Owner) => OwnerPlace | Promise<OwnerPlace>,
    tls?: { cert: string; key: string },
  ): Promise<Listener> {
    const listener = await Listener.open({ host: '127.0.0.1', port: 0, publicUrl: undefined, tls })
    await leadToOwners(listener, {
      certificate: tls,
      settings: namespace.fixture.settings,
      ownerOf: (_request, failed) => ownerOf(failed),
      application: () => undefined,
      self: undefined,
    })
    return listener
  }

  private constructor(
    readonly owner: Sandbox,
    readonly partner: Partner,
    readonly address: Owner,
    readonly passed: Listener,
    readonly front: Listener,
  ) {}

  async stop(): Promise<void> {
    await this.front.close()
    await Promise.all([this.owner.stop(), this.passed.close()])
  }

  async control(method: string, path: string, body?: unknown): Promise<unknown> {
    const json =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const answer = await this.owner.fetch(`${this.owner.baseUrl}/_sandbox/${path}`, { method, ...json })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  /** Plays on one way, from the beginning of all state; returns the client's view and the owner's record. */
  async play(url: string, rule: FaultRule | undefined, script: (stage: Stage) => Promise<void>): Promise<Played> {
    const { partner } = this
    const portfolio = await eventually(async () => {
      await this.control('POST', 'reset')
      const opened = await partner.open('alice')
      // Of a busy machine the chain may be late, and then something is asked twice.
      expect(opened).toBeDefined()
      return opened
    })
    const [idp, user] = [await partner.idpToken(), await partner.userToken('alice')]
    await this.control('DELETE', 'requests')
    if (rule) await this.control('POST', 'faults', rule)
    const clients: RawClient[] = []
    const tokens = ['Host: sandbox.test', `Authorization: Bearer ${idp}`, `X-User-Token: ${user}`]
    const deposit = (shape: Shape = {}) => {
      const body =
        shape.body === null ? null : (shape.body ?? JSON.stringify({ portfolio_id: portfolio, amount_minor: '1000' }))
      const lines = ['Idempotency-Key: 1b4e28ba-2fa1-41d2-883f-0016d3cca427', 'Content-Type: application/json']
      return asBytes({ method: 'POST', path: '/v1/partner/end_users/alice/deposit', ...shape, body }, [
        ...tokens,
        ...lines,
      ])
    }
    const open = () => {
      const client = new RawClient(url)
      clients.push(client)
      return client
    }
    const pools = (shape: Shape = {}) => asBytes({ method: 'GET', path: '/v1/partner/pools', ...shape }, tokens)
    await script({ url, partner, portfolio, deposit, pools, open, control: (...args) => this.control(...args) })
    await Promise.all(clients.map((client) => client.announcedEnd()))
    const received = clients.map((client) => client.received)
    const record = await eventually(async () => {
      const { data } = (await this.control('GET', 'requests?limit=100')) as { data: Recorded[] }
      expect(data.filter(isUnderWay)).toEqual([])
      return data.map(withoutTime)
    })
    for (const { socket } of clients) socket.destroy()
    return { received, record }
  }

  /**
   * Plays the same directly and through the front, and compares everything but what `known` takes out. Returns what there was to see.
   */
  async compare(
    script: (stage: Stage) => Promise<void>,
    rule?: FaultRule,
    known = (played: Played) => played,
  ): Promise<Played> {
    const direct = await this.play(this.owner.listeningUrl, rule, script)
    const through = await this.play(this.front.url, rule, script)
    expect(known(through)).toEqual(known(direct))
    return direct
  }
}

/** What a case left behind. */
export interface Played {
  received: { text: string; end: string }[]
  record: unknown[]
}

/** An exchange of the owner's record, as far as tests ask. */
export interface Recorded {
  end: string
  response: object | null
  transfer: { steps: { step: string }[] } | null
}

/** Takes the request ids out: those of requests that are none, and of those beside the service, are from no namespace's stream. */
export function withoutIds({ received, record }: Played): Played {
  const [view, rest] = [received, record].map((part) =>
    JSON.parse(JSON.stringify(part).replaceAll(/req_\w{26}/g, 'req_*')),
  )
  return { received: view, record: rest }
}

/** Takes out how much of a body was there when it was refused: that is a matter of time. */
export function withoutBodies({ received, record }: Played): Played {
  const text = JSON.stringify(record, (name, value) => (/^body(_bytes|_cut)?$/.test(name) ? '*' : value))
  return { received, record: JSON.parse(text) }
}

function isUnderWay({ end, transfer, response }: Recorded): boolean {
  const last = transfer?.steps.at(-1)?.step
  // A transfer that is refused goes no further, and has an answer.
  const isOver = last === 'settled' || (last === 'claimed' && response !== null)
  return end === 'open' || (last !== undefined && !isOver)
}

/** Fields of a record that say when something happened, also whether a step came before the end of the connection or after it. */
const OF_THE_MOMENT = new Set(['wall', 'took_ms', 'after_end'])

/** Real time differs in every run. */
function withoutTime(recorded: unknown): unknown {
  const text = JSON.stringify(recorded, (name, value) => (OF_THE_MOMENT.has(name) ? '*' : value))
  return JSON.parse(text)
}

function asBytes({ method, path, version = '1.1', headers, body }: Shape, standard: string[]): string {
  const framed =
    body === undefined || body === null || headers?.some((line) => /^(content-length|transfer-encoding):/i.test(line))
  const replaced = new Set(headers?.map(nameOf))
  const lines = [
    ...standard.filter((line) => !replaced.has(nameOf(line))),
    // A header is left out by its name alone.
    ...(headers ?? []).filter((line) => !line.endsWith(':')),
    ...(framed ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ]
  return `${method} ${path} HTTP/${version}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body ?? ''}`
}

const nameOf = (line: string) => line.split(':', 1)[0]?.toLowerCase()
