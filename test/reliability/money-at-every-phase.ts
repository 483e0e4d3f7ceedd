import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect } from 'vitest'
import type { EndUser, Pool } from '../../src/domain/records.ts'
import { parseFaultHeader } from '../../src/faults/fault-rule.ts'
import { eventually } from '../helpers/eventually.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'
import { Attempt, type Ending, type Transfer } from './money-client.ts'
import type { Row } from './money-table.ts'

const CONFIRMATION = 10_000
const HOUR = 3_600_000
const POOL = 'aave-usdc'
const AMOUNT = '1000000'
/** Accounts that are opened together. */
const AT_ONCE = 12

/** Kinds that hold a transfer at the phase they strike. */
const HOLDING = new Set(['latency', 'slow_confirmation', 'stuck'])

/** An end user with a portfolio of its own and what it began with. */
interface Account {
  user: EndUser
  pool: Pool
  portfolio: string
  /** Transactions in the list, and of the wallet on chain, before anything went wrong. */
  before: number
}

/** How a run went, in the words of the table. */
type Observed = Pick<Row, 'sees' | 'chain' | 'list'> & { after: string }

/** Counts the transfers that wait for their confirmation, by what is logged of them. */
class MinedCount extends Writable {
  count = 0

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (chunk.includes('"transfer mined"')) this.count++
    done()
  }
}

/** Plays the rows of the table for one operation. Time stands still but for the steps it takes. */
export class Stage {
  static async open(operation: Transfer['operation'], accounts: number): Promise<Stage> {
    const mined = new MinedCount()
    const open = await openSandbox({ confirmationDelay: CONFIRMATION, logger: pino({ level: 'debug' }, mined) })
    open.sandbox.namespace.services.service.clock.freeze()
    const stage = new Stage(open, operation, mined)
    await stage.#openAccounts(accounts)
    return stage
  }

  readonly #open: OpenSandbox
  readonly #operation: Transfer['operation']
  readonly #ledger: Ledger
  readonly #accounts: Account[] = []
  readonly #mined: MinedCount

  private constructor(open: OpenSandbox, operation: Transfer['operation'], mined: MinedCount) {
    this.#open = open
    this.#operation = operation
    this.#mined = mined
    this.#ledger = new Ledger(open)
  }

  stop(): Promise<void> {
    return this.#open.stop()
  }

  /** Ledger and chain say the same of every account, whatever was played with it. */
  expectAudited(): Promise<void> {
    return this.#ledger.expectAudited()
  }

  /** Takes what a failed row left behind. */
  async clear(): Promise<void> {
    this.#faults.clear()
    await this.#faults.repairs.settleAll()
  }

  /** The row as it turns out. `withFresh`: also what comes of a fresh key, for which it is played once more. */
  async play(row: Row, withFresh: boolean): Promise<Row> {
    const { after: later, ...observed } = await this.#playToTheEnd(row, 'same key')
    const rightAfter = await this.#playWithRetryRightAfter(row)
    if (!withFresh) return { ...row, ...observed, rightAfter, later }
    const { after: fresh, ...again } = await this.#playToTheEnd(row, 'fresh key')
    expect(again, 'two runs of one row').toEqual(observed)
    return { ...row, ...observed, rightAfter, later, fresh }
  }

  get #faults() {
    return this.#open.sandbox.namespace.services.faults
  }

  get #clock() {
    return this.#open.sandbox.namespace.services.service.clock
  }

  /** One request, repeated when all is over. */
  async #playToTheEnd(row: Row, repeatedWith: 'same key' | 'fresh key'): Promise<Observed> {
    const account = this.#takeAccount()
    const began = this.#clock.now()
    const key = randomUUID()
    this.#strike(row)
    const first = await this.#send(account, key)
    await this.#underWay(row, first)
    expect(await this.#listed(account), 'in the list before confirmation').toHaveLength(0)
    this.#clock.advance(CONFIRMATION)
    await this.#overDue(row, first, account)
    await this.#letGo(async () => first.ended && (await this.#listed(account)).length === Number(row.list !== 'never'))
    const ending = await first.ending
    const sees = `${ending.what}, ${when(ending.at - began)}`
    const [transaction] = await this.#listed(account)
    const list = transaction ? when(Date.parse(transaction.created_at) - began) : 'never'
    const chain = await this.#onChain(account, ending, began)
    const repeated = await this.#confirmed(await this.#send(account, repeatedWith === 'same key' ? key : randomUUID()))
    await this.#expectSound(account)
    if (repeatedWith === 'same key') return { sees, chain, list, after: await this.#retried(account, repeated) }
    expect(repeated).toMatchObject({ what: '200', replay: 'false' })
    return { sees, chain, list, after: ['none', 'first', 'second'][(await this.#listed(account)).length]! }
  }

  /** One request, repeated with its key as soon as a client would. Whatever comes of it, there is one transaction. */
  async #playWithRetryRightAfter(row: Row): Promise<string> {
    const account = this.#takeAccount()
    const key = randomUUID()
    this.#strike(row)
    const first = await this.#send(account, key)
    await this.#underWay(row, first)
    if (!row.sees.endsWith(', at once')) {
      this.#clock.advance(CONFIRMATION)
      await this.#overDue(row, first, account)
    }
    if (!first.ended) await first.giveUp()
    const asked = this.#clock.now()
    const retry = await this.#send(account, key)
    if (row.rightAfter === 'carried out, confirmed') await this.#confirming()
    if (row.rightAfter.endsWith(', at once')) await retry.ending
    else {
      this.#clock.advance(CONFIRMATION)
      if (row.rightAfter.endsWith(', confirmed')) await retry.ending
    }
    await this.#letGo(async () => first.ended && retry.ended)
    const ending = await retry.ending
    const words = `${await this.#retried(account, ending)}, ${when(ending.at - asked)}`
    const again = await this.#confirmed(await this.#send(account, key))
    if (ending.what.startsWith('5')) expect(again).toMatchObject({ what: '200', replay: 'false' })
    else expect(again).toMatchObject({ what: ending.what, replay: 'true', body: ending.body })
    await this.#expectSound(account)
    expect(await this.#listed(account), 'however often it is repeated').toHaveLength(again.what === '200' ? 1 : 0)
    return words
  }

  /** Puts the row's fault in force. */
  #strike({ phase, fault }: Row): void {
    const match = { operation: this.#operation }
    const rules = fault === '–' ? [] : [{ ...parseFaultHeader(fault), phase, match }]
    this.#faults.clear()
    this.#faults.add(rules, [])
    this.#mined.count = 0
  }

  get #hits(): number[] {
    return this.#faults.list().map(({ hits }) => hits)
  }

  /** Resolves when nothing more happens before time moves on. */
  async #underWay(row: Row, first: Attempt): Promise<void> {
    if (row.fault !== '–' && row.phase.match(/^(on|before|after_b)/)) {
      await expect.poll(() => this.#hits[0], { interval: 2 }).toBe(1)
    }
    if (row.chain.endsWith('at once') && !(row.phase === 'after_broadcast' && HOLDING.has(row.fault.split(';')[0]!))) {
      await this.#confirming()
    }
    if (row.sees.endsWith(', at once')) await first.ending
    else await this.#turns()
  }

  /** Resolves when the first transfer to get there waits for its confirmation. */
  async #confirming(): Promise<void> {
    await expect.poll(() => this.#mined.count, { interval: 2 }).toBeGreaterThan(0)
  }

  /** Resolves when what the confirmation brings about has happened. */
  async #overDue({ sees, list }: Row, first: Attempt, account: Account): Promise<void> {
    if (sees.endsWith(', confirmed')) await first.ending
    if (list === 'confirmed') {
      await expect.poll(() => this.#listed(account), { interval: 2 }).toHaveLength(1)
      return
    }
    await this.#turns()
    expect(await this.#listed(account), 'in the list on confirmation').toHaveLength(0)
  }

  /** Lets the fault's own time pass, takes it away, and moves time on until all is over. */
  async #letGo(over: () => Promise<boolean>): Promise<void> {
    this.#clock.advance(HOUR)
    await this.clear()
    await this.#step(over)
  }

  async #confirmed(attempt: Attempt): Promise<Ending> {
    await this.#step(async () => attempt.ended)
    return attempt.ending
  }

  async #step(over: () => Promise<boolean>): Promise<void> {
    const step = async () => {
      if (await over()) return
      this.#clock.advance(CONFIRMATION)
      throw new Error('not over yet')
    }
    await eventually(step)
  }

  /** Gives whatever goes on in the process its turn. */
  async #turns(): Promise<void> {
    for (let i = 0; i < 3; i++) {
      await (await fetch(`${this.#open.sandbox.baseUrl}/_sandbox/health`)).arrayBuffer()
    }
  }

  async #send({ user, portfolio }: Account, key: string): Promise<Attempt> {
    const { acme, sandbox } = this.#open
    const transfer = { operation: this.#operation, external_id: user.external_id, portfolio, amount: AMOUNT, key }
    const tokens = { idp: await acme.idpToken(), user: await acme.userToken(user.external_id) }
    return new Attempt(sandbox.baseUrl, transfer, tokens, this.#clock)
  }

  /** What the client finds in its list that was not there before. */
  async #listed({ user, before }: Account): Promise<{ tx_hash: string; created_at: string; type: string }[]> {
    const { status, body } = await this.#open.acme.get(`end_users/${user.external_id}/transactions`)
    expect(status).toBe(200)
    return body.data.slice(0, body.data.length - before)
  }

  async #onChain(account: Account, { body }: Ending, began: number): Promise<string> {
    const sent = (await this.#ledger.nonce(account.user)) - account.before
    expect(sent, 'transactions on chain').toBeLessThanOrEqual(1)
    if (sent === 0) return 'never'
    const [transaction] = await this.#listed(account)
    const hash = transaction?.tx_hash ?? /0x[0-9a-f]{64}/.exec(body.detail)![0]
    const receipt = (await this.#ledger.receipt(hash))!
    expect(receipt.status).toBe(transaction ? '0x1' : '0x0')
    const mined = when((await this.#ledger.timestamp(receipt.blockNumber)) * 1000 - began)
    return transaction ? mined : `reverted, ${mined}`
  }

  /** What a retry got. A replay is of the one transaction there is, and so is what was carried out. */
  async #retried(account: Account, { what, replay, body }: Ending): Promise<string> {
    if (what !== '200') return replay === 'true' ? `${what} replayed` : what
    expect(await this.#listed(account)).toMatchObject([{ tx_hash: body.tx_hash }])
    return replay === 'true' ? 'replayed' : 'carried out'
  }

  /** Every transaction of the account is of the amount that was asked for, and nothing is left half done. */
  async #expectSound({ user, before }: Account): Promise<void> {
    expect(await this.#ledger.unsettled()).toBe(0)
    const transactions = await this.#ledger.transactions(user)
    for (const { amount_changed } of transactions.slice(0, transactions.length - before)) {
      expect(amount_changed).toBe(AMOUNT)
    }
  }

  async #openAccounts(count: number): Promise<void> {
    const { acme } = this.#open
    const names = Array.from({ length: count }, (_, i) => `user-${i}`)
    const portfolios: string[] = []
    for (const few of groupsOf(names)) {
      portfolios.push(...(await Promise.all(few.map((name) => acme.insistOnOpening(name, POOL)))))
    }
    const users = new Map((await this.#ledger.users()).map((user) => [user.external_id, user]))
    const pool = (await this.#ledger.pools()).find(({ pool_id }) => pool_id === POOL)!
    const before = this.#operation === 'withdraw' ? 1 : 0
    for (const [i, name] of names.entries()) {
      this.#accounts.push({ user: users.get(name)!, pool, portfolio: portfolios[i]!, before })
    }
    if (before === 0) return
    for (const few of groupsOf(this.#accounts)) {
      this.#mined.count = 0
      let open = few.length
      const deposits = few.map(({ user, portfolio }) =>
        acme.deposit(user.external_id, portfolio, '9000000').finally(() => open--),
      )
      await eventually(() => expect(this.#mined.count).toBe(few.length), 5)
      await this.#step(async () => open === 0)
      for (const { status } of await Promise.all(deposits)) expect(status).toBe(200)
    }
  }

  #takeAccount(): Account {
    return this.#accounts.pop()!
  }
}

/** A few at a time: of a busy machine, more would be asked at once than it answers in time. */
function* groupsOf<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let i = 0; i < items.length; i += AT_ONCE) yield items.slice(i, i + AT_ONCE)
}

/** The time since a request was sent, in the words of the table. */
function when(milliseconds: number): string {
  if (milliseconds < CONFIRMATION - 1_000) return 'at once'
  return milliseconds < HOUR ? 'confirmed' : 'late'
}
