import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { PostgresStorage } from '../../src/database/postgres-storage.ts'
import { startSandbox } from '../../src/index.ts'
import { FleetProcess } from '../fleet/processes.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner, partnerAt } from '../helpers/partner.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { ownConnection, storedEntries } from './rows.ts'
import { openRegistry, openStorage } from './workbench.ts'

let server: Postgres
let databases = 0

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
})
afterAll(() => server?.stop())

const newDatabase = () => server.createDatabase(`writes_${++databases}`)

/** The journals that each write since the first `seq` stored something of, in order. */
async function writes(client: Client, after: number): Promise<string[]> {
  const { rows } = await client.query(
    `select string_agg(journal, ' ' order by seq) as journals from yield_sandbox.entry
     where namespace = 'default' and journal ~ '^(chain|ledger)' and seq > $1 group by xmin::text order by min(seq)`,
    [after],
  )
  return rows.map(({ journals }) => journals)
}

async function head(client: Client): Promise<number> {
  const { rows } = await client.query(`select head from yield_sandbox.namespace where name = 'default'`)
  return Number(rows[0].head)
}

/** From now on, whatever stores an entry of a chain runs `body` first, in PL/pgSQL. */
async function beforeBlocks(client: Client, body: string): Promise<void> {
  await client.query(
    `create or replace function public.strike() returns trigger language plpgsql as $$ begin ${body}; return new; end $$`,
  )
  await client.query(`create trigger strike before insert on yield_sandbox.entry for each row when (new.journal like 'chain%')
    execute function public.strike()`)
}

describe.skipIf(noPostgres !== undefined)(`the writes of a deposit${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  test('are two: its signed bytes; then its block and all that it changed', async () => {
    const url = newDatabase()
    const sandbox = await startSandbox({ port: 0, confirmationDelay: 0, database: url })
    onTestFinished(() => sandbox.stop())
    const partner = new Partner(sandbox)
    const portfolio = await partner.open('zoe')
    const client = await ownConnection(url)
    for (const operation of ['deposit', 'withdraw'] as const) {
      const before = await head(client)
      expect((await partner[operation]('zoe', portfolio, '1000')).status).toBe(200)
      expect(await writes(client, before), operation).toEqual(['ledger', 'chain-31337 ledger'])
    }
  })

  test('do not wait for each other with a confirmation delay: the block is stored before that is over', async () => {
    const url = newDatabase()
    const sandbox = await startSandbox({ port: 0, confirmationDelay: '1h', database: url })
    onTestFinished(() => sandbox.stop())
    const partner = new Partner(sandbox)
    const portfolio = await partner.open('zoe')
    const client = await ownConnection(url)
    const before = await head(client)
    const deposit = partner.deposit('zoe', portfolio, '1000')
    await eventually(async () => expect(await writes(client, before)).toEqual(['ledger', 'chain-31337']))
    await sandbox.clock.advance('2h')
    expect((await deposit).status).toBe(200)
  })

  test.each([
    ['is rolled back', `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted`],
    ['is stored after all', 'select pg_advisory_unlock(7)'],
  ])(
    'when the process is killed in the second, which %s: the deposit is there once, and a retry learns it',
    async (_, then) => {
      const url = newDatabase()
      const one = await FleetProcess.start(url)
      onTestFinished(async () => void (await one.end()))
      const partner = partnerAt({ ...one.credentials, base_url: one.url, auth_url: `${one.url}/oauth2/token` })
      const portfolio = await partner.open('zoe')
      const client = await ownConnection(url)
      await client.query('select pg_advisory_lock(7)')
      await beforeBlocks(client, 'perform pg_advisory_xact_lock_shared(7)')
      const key = '0b9f2c3e-7a41-4a7e-9d54-4f1f3a5b6c7d'
      const cut = partner.deposit('zoe', portfolio, '1000', { key }).catch(() => 'cut')
      await eventually(async () => {
        const { rows } = await client.query(`select from pg_locks where locktype = 'advisory' and not granted`)
        expect(rows).toHaveLength(1)
      })
      await one.end()
      expect(await cut).toBe('cut')
      await client.query(then)
      await client.query('drop trigger strike on yield_sandbox.entry')

      const two = await FleetProcess.start(url)
      onTestFinished(async () => void (await two.end()))
      const again = partnerAt({ ...two.credentials, base_url: two.url, auth_url: `${two.url}/oauth2/token` })
      expect((await again.deposit('zoe', portfolio, '1000', { key })).status).toBe(200)
      const { data } = (await again.get('end_users/zoe/transactions')).body
      expect(data).toMatchObject([{ type: 'deposit', amount_changed: '1000' }])
      const audit = await fetch(`${two.url}/_sandbox/audit`)
      expect(await audit.json()).toMatchObject({ ok: true })
    },
  )
})

describe.skipIf(noPostgres !== undefined)(
  `an entry that is appended ahead${noPostgres ? ` (${noPostgres})` : ''}`,
  () => {
    /** Both journals of a namespace, which are there already: making one is a write as well. */
    async function opened(): Promise<
      { storage: PostgresStorage; client: Client } & Record<
        'chain' | 'ledger',
        Awaited<ReturnType<PostgresStorage['journal']>>
      >
    > {
      const url = newDatabase()
      const registry = await openRegistry(url)
      onTestFinished(() => registry.close())
      const storage = await openStorage(registry, 'default')
      const [chain, ledger] = [await storage.journal('chain'), await storage.journal('ledger')]
      return { storage, chain, ledger, client: await ownConnection(url) }
    }

    test('is stored by itself if nothing follows', async () => {
      const { chain, client } = await opened()
      await chain.append('block', { ahead: true })
      expect(await writes(client, 0)).toEqual(['chain'])
    })

    test('takes what follows into its write, in order', async () => {
      const { chain, ledger, client } = await opened()
      expect(chain.ordered).toBe(true)
      const block = chain.append('block', { ahead: true })
      await new Promise(setImmediate)
      await new Promise(setImmediate)
      await Promise.all([block, ledger.append('booked')])
      expect(await writes(client, 0)).toEqual(['chain ledger'])
    })

    test('is lost with its namespace and all that follows if it is refused', async () => {
      const { storage, chain, ledger, client } = await opened()
      await beforeBlocks(client, `raise exception 'no' using errcode = '22023'`)
      const block = chain.append('block', { ahead: true })
      const booked = ledger.append('booked')
      await expect(block).rejects.toThrow(/an entry that others follow was refused: .*\(no\)/)
      await expect(booked).rejects.toThrow(/an entry that others follow was refused/)
      await expect(ledger.append('later')).rejects.toThrow()
      expect(storage.lost.aborted).toBe(true)
      expect(await storedEntries(client, 'default')).toEqual([])
    })

    test('is not, by a journal that is being rewritten: other journals do not wait for that', async () => {
      const { chain } = await opened()
      await chain.append(1)
      const rewrite = chain.rewrite([2])
      expect(chain.ordered).toBe(false)
      await rewrite
      await new Promise(setImmediate)
      expect(chain.ordered).toBe(true)
    })
  },
)
