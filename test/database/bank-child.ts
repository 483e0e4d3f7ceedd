// A process that keeps accounts in the namespace `bank` while that is its own, and tries to have it while it is not. Arguments: URL of the
// database, length of the lease in milliseconds, name of a planted fault. It reads requests and orders as lines of JSON, and prints
// an answer for each request, and what becomes of it.
import { createHash, randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { DatabaseRegistry } from '../../src/database/database-registry.ts'
import type { PostgresStorage } from '../../src/database/postgres-storage.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { UnparsedJournal } from '../../src/domain/ports/unparsed-journal.ts'
import type { ListedTransaction } from '../history/recorded-history.ts'
import type { BankEvent, BankOrder, BankRequest, HaltPoint } from './bank-words.ts'
import { type PlantedFault, plant } from './planted-faults.ts'

/** Entries from which on those of earlier rounds are left out when the namespace is taken. */
const MANY = 2_000

interface Account extends ListedTransaction {
  portfolio: string
  key: string
  principal: string
}

const [url = '', leaseMs = '', planted = ''] = process.argv.slice(2)
const log = { debug() {}, info() {}, warn() {}, error() {} }
let jump = 0
const clock = Object.assign(new SandboxClock(), { wallNow: () => Date.now() + jump })
let halt: HaltPoint | undefined

/** Stands still here if that was ordered. */
function reached(point: HaltPoint): void {
  if (halt !== point) return
  halt = undefined
  print({ event: 'halt', point })
  process.kill(process.pid, 'SIGSTOP')
}

function print(line: BankEvent | object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** The accounts while the namespace is this process's. */
class Bank {
  readonly #storage: PostgresStorage
  readonly #journal: UnparsedJournal<Account>
  readonly #accounts = new Map<string, Account[]>()
  readonly #principals = new Map<string, bigint>()
  readonly #keys = new Map<string, Promise<Account>>()

  constructor(storage: PostgresStorage, journal: UnparsedJournal<Account>) {
    this.#storage = storage
    this.#journal = journal
  }

  get lost(): AbortSignal {
    return this.#storage.lost
  }

  async open(): Promise<void> {
    const all: Account[] = []
    for await (const account of this.#journal.read()) all.push(account)
    const rounds = [...new Set(all.map(({ portfolio }) => portfolio.split('.')[0]))].slice(-3)
    const kept = all.length < MANY ? all : all.filter(({ portfolio }) => rounds.includes(portfolio.split('.')[0]))
    if (kept.length < all.length) await this.#journal.rewrite(kept)
    for (const account of kept) {
      this.#keys.set(account.key, Promise.resolve(account))
      this.#principals.set(account.portfolio, BigInt(account.principal))
      this.#book(account)
    }
  }

  async answer(request: BankRequest): Promise<object> {
    if (request.ask === 'transfer') {
      const { id, principal } = await this.#transfer(request)
      reached('stored')
      return { done: { id, principal } }
    }
    const accounts = this.#accounts.get(request.portfolio) ?? []
    const shown = request.ask === 'list' ? accounts.slice(-3) : [...accounts]
    const transactions = shown.toReversed().map(({ id, type, amount, principal }) => ({ id, type, amount, principal }))
    const read = request.ask === 'balance' ? { principal: accounts.at(-1)?.principal ?? '0' } : { transactions }
    await clock.wallSleep(Math.random() * 3)
    if (planted !== 'gate' && !this.#storage.holds() && !(await this.#storage.renewed())) return { no: 'uncertain' }
    reached('checked')
    return read
  }

  #transfer({ key, portfolio, type, amount }: BankRequest & { ask: 'transfer' }): Promise<Account> {
    const known = this.#keys.get(key)
    if (known) return known
    const before = this.#principals.get(portfolio) ?? 0n
    const principal = type === 'deposit' ? before + BigInt(amount) : before - BigInt(amount)
    this.#principals.set(portfolio, principal)
    const account = { id: randomUUID(), key, portfolio, type, amount, principal: String(principal) }
    const stored = this.#journal.append(account).then(() => {
      this.#book(account)
      return account
    })
    this.#keys.set(key, stored)
    return stored
  }

  #book(account: Account): void {
    const accounts = this.#accounts.get(account.portfolio) ?? []
    this.#accounts.set(account.portfolio, accounts)
    accounts.push(account)
  }
}

let owned: Bank | undefined

/** Has the namespace for as long as it can, again and again. */
async function run(): Promise<void> {
  for (;;) {
    const registry = await DatabaseRegistry.open({
      ...{ url, clock, log, address: 'bank:1', version: '0.0.0', formats: { oldest: 4, newest: 4 } },
      leaseMs: Number(leaseMs),
    })
    plant(planted as PlantedFault | '', registry.database)
    const query = registry.database.query.bind(registry.database)
    registry.database.query = (text, values, options) => {
      if (options?.stores) reached('sending')
      return query(text, values, options)
    }
    while (!registry.lease.dead.aborted) {
      try {
        await own(registry)
      } catch {
        await clock.wallSleep(20)
      }
    }
    await registry.close()
  }
}

async function own(registry: DatabaseRegistry): Promise<void> {
  const storage = await registry.open('bank.1', { version: '0.0.0', seed: 7, fixture: 'acme', log })
  const bank = new Bank(storage, await storage.journal<Account>('accounts'))
  await bank.open()
  const [mine] = await registry.database.query(registry.database.statements.standing, [['bank']])
  const epoch = Number(mine?.epoch)
  owned = bank
  print({ event: 'owner', epoch, process: registry.id })
  await new Promise<void>((resolve) => {
    if (bank.lost.aborted) resolve()
    bank.lost.addEventListener('abort', () => resolve(), { once: true })
  })
  owned = undefined
  print({ event: 'lost', epoch, process: registry.id, reason: String(bank.lost.reason) })
  await storage.close()
}

createInterface(process.stdin).on('line', async (line) => {
  const message = JSON.parse(line) as BankRequest | BankOrder
  if ('order' in message) {
    if (message.order === 'halt') halt = message.point
    else jump = message.ms
    return
  }
  const { n } = message
  if (!owned) return print({ n, no: 'elsewhere' })
  try {
    print({ n, ...(await owned.answer(message)) })
  } catch (error) {
    print({ n, no: String(error) })
  }
})

if (planted === 'named') {
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function named(this: pg.Client, text: unknown, values?: unknown, ...rest: unknown[]) {
    const asked =
      typeof text === 'string' && Array.isArray(values)
        ? [{ name: createHash('md5').update(text).digest('hex'), text, values }]
        : [text, values]
    return Reflect.apply(query, this, [...asked, ...rest])
  } as typeof query
}
await run()
