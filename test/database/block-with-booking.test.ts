import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { PostgresStorage } from '../../src/database/postgres-storage.ts'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { nodeUrl, rpc } from '../chain/chain-fixture.ts'
import { FleetProcess } from '../fleet/processes.ts'
import { anvilsOf } from '../helpers/anvils.ts'
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
async function writes(client: Client, after: number, namespace = 'default'): Promise<string[]> {
  const { rows } = await client.query(
    `select string_agg(journal, ' ' order by seq) as journals from yield_sandbox.entry
     where namespace = $2 and journal ~ '^(chain|ledger)' and seq > $1 group by xmin::text order by min(seq)`,
    [after, namespace],
  )
  return rows.map(({ journals }) => journals)
}

async function head(client: Client): Promise<number> {
  const { rows } = await client.query(`select head from yield_sandbox.namespace where name = 'default'`)
  return Number(rows[0].head)
}

/** From now on, whatever stores an entry of these journals runs `body` first, in PL/pgSQL. */
async function beforeEntries(client: Client, journals: 'chain%' | 'ledger', body: string): Promise<void> {
  await client.query(
    `create or replace function public.strike() returns trigger language plpgsql as $$ begin ${body}; return new; end $$`,
  )
  await client.query(`create trigger strike before insert on yield_sandbox.entry for each row when (new.journal like '${journals}')
    execute function public.strike()`)
}

const noMore = (client: Client) => client.query('drop trigger strike on yield_sandbox.entry')

/** Holds up whatever stores an entry of these journals, until the function that it returns is called. */
async function holdUp(client: Client, journals: 'chain%' | 'ledger'): Promise<() => Promise<unknown>> {
  await client.query('select pg_advisory_lock(7)')
  await beforeEntries(client, journals, 'perform pg_advisory_xact_lock_shared(7)')
  return () => client.query('select pg_advisory_unlock(7)')
}

/** Resolves when a write is held up. */
function heldUp(client: Client): Promise<void> {
  return eventually(async () => {
    const { rows } = await client.query(`select from pg_locks where locktype = 'advisory' and not granted`)
    expect(rows).toHaveLength(1)
  })
}

/** Number of the last block. */
const heightAt = async (rpcUrl: string) => Number(await rpc(rpcUrl, 'eth_blockNumber'))

/** Numbers of the last blocks of the Anvils of a chain that this process has started: they are asked past the sandbox. */
async function heightsOf(chainId: number): Promise<number[]> {
  const nodes = await Promise.all(anvilsOf(process.pid).map(nodeUrl))
  const chains = await Promise.all(nodes.map((node) => rpc(node, 'eth_chainId')))
  return Promise.all(nodes.filter((_, i) => Number(chains[i]) === chainId).map(heightAt))
}

describe.skipIf(noPostgres !== undefined)(`the writes of a deposit${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  /** Of all tests that neither kill it nor need another confirmation delay. */
  let sandbox: SandboxHandle
  let partner: Partner
  let url: string
  beforeAll(async () => {
    url = newDatabase()
    sandbox = await startSandbox({ port: 0, confirmationDelay: 0, database: url })
    partner = new Partner(sandbox)
  })
  afterAll(() => sandbox?.stop())

  test('are two: its signed bytes; then its block and all that it changed', async () => {
    const portfolio = await partner.open('zoe')
    const client = await ownConnection(url)
    for (const operation of ['deposit', 'withdraw'] as const) {
      const before = await head(client)
      expect((await partner[operation]('zoe', portfolio, '1000')).status).toBe(200)
      expect(await writes(client, before), operation).toEqual(['ledger', 'chain-31337 ledger'])
    }
  })

  test('do not wait for each other with a confirmation delay: the block is stored before that is over', async () => {
    const database = newDatabase()
    const slow = await startSandbox({ port: 0, confirmationDelay: '1h', database })
    onTestFinished(() => slow.stop())
    const patient = new Partner(slow)
    const portfolio = await patient.open('zoe')
    const client = await ownConnection(database)
    const before = await head(client)
    const deposit = patient.deposit('zoe', portfolio, '1000')
    await eventually(async () => expect(await writes(client, before)).toEqual(['ledger', 'chain-31337']))
    await slow.clock.advance('2h')
    expect((await deposit).status).toBe(200)
  })

  describe('when the process is killed', () => {
    /** On one database of which each goes on; its last one is killed by the next test. */
    const processes: { database: string; last: FleetProcess | undefined } = { database: '', last: undefined }
    const nextProcess = async () => {
      processes.database ||= newDatabase()
      processes.last = await FleetProcess.start(processes.database)
      return processes.last
    }
    afterAll(() => processes.last?.end())

    test.each([
      ['first', 'ledger', 'is rolled back'],
      ['first', 'ledger', 'is stored after all'],
      ['second', 'chain%', 'is rolled back'],
      ['second', 'chain%', 'is stored after all'],
    ] as const)(
      'in the %s, of an entry of %s, which %s: the deposit is there once, and a retry learns it',
      async (_, journals, then) => {
        const one = processes.last ?? (await nextProcess())
        const partner = partnerAt({ ...one.credentials, base_url: one.url, auth_url: `${one.url}/oauth2/token` })
        const user = randomUUID()
        const portfolio = await partner.open(user)
        const client = await ownConnection(processes.database)
        const letGo = await holdUp(client, journals)
        const key = randomUUID()
        const cut = partner.deposit(user, portfolio, '1000', { key }).catch(() => 'cut')
        await heldUp(client)
        await one.end()
        expect(await cut).toBe('cut')
        if (then === 'is rolled back')
          await client.query(
            `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted`,
          )
        else await letGo()
        await noMore(client)

        const two = await nextProcess()
        const again = partnerAt({ ...two.credentials, base_url: two.url, auth_url: `${two.url}/oauth2/token` })
        expect((await again.deposit(user, portfolio, '1000', { key })).status).toBe(200)
        const { data } = (await again.get(`end_users/${user}/transactions`)).body
        expect(data).toMatchObject([{ type: 'deposit', amount_changed: '1000' }])
        const audit = await fetch(`${two.url}/_sandbox/audit`)
        expect(await audit.json()).toMatchObject({ ok: true })
      },
    )
  })

  describe('while the first is under way', () => {
    /** A new user, who has deposited once. */
    async function deposited(): Promise<{
      user: string
      client: Client
      deposit: (key: string) => ReturnType<Partner['deposit']>
    }> {
      const user = randomUUID()
      const portfolio = await partner.open(user)
      const deposit = (key: string) => partner.deposit(user, portfolio, '1000', { key })
      expect((await deposit(randomUUID())).status).toBe(200)
      return { user, client: await ownConnection(url), deposit }
    }

    test('the node makes the block, and nobody hears of it before the bytes are stored', async () => {
      const { client, deposit } = await deposited()
      await sandbox.clock.freeze() // or a read has a block of the next second mined first
      onTestFinished(async () => void (await sandbox.clock.unfreeze()))
      const rpcUrl = `${sandbox.baseUrl}/rpc/31337`
      const before = await heightAt(rpcUrl)
      const letGo = await holdUp(client, 'ledger')
      const answered: string[] = []
      const note = async <Result>(what: string, promise: Promise<Result>) => {
        const result = await promise
        answered.push(what)
        return result
      }
      const deposit2 = note('deposit', deposit(randomUUID()))
      await heldUp(client)
      await eventually(async () => expect(await heightsOf(31337)).toContain(before + 1))
      const [read, audit] = [note('read', heightAt(rpcUrl)), note('audit', sandbox.audit())]
      // As long as an audit looks again at what seems wrong.
      for (let i = 0; i < 400; i++) expect((await fetch(`${sandbox.baseUrl}/_sandbox/health`)).status).toBe(200)
      expect(answered).toEqual([])
      await letGo()
      await noMore(client)
      expect(await read).toBe(before + 1)
      expect(await audit).toMatchObject({ ok: true })
      expect((await deposit2).status).toBe(200)
    })

    test('and refused: the money has not moved, the namespace stays, and a retry moves it', async () => {
      const { user, client, deposit } = await deposited()
      const key = randomUUID()
      await beforeEntries(client, 'ledger', `raise exception 'no' using errcode = '22023'`)
      expect((await deposit(key)).status).toBeGreaterThanOrEqual(500)
      await noMore(client)
      const moved = async () => (await partner.get(`end_users/${user}/transactions`)).body.data.length
      expect(await moved()).toBe(1)
      // The chain's Anvil is restarted without what could not be stored.
      await eventually(async () => expect(await sandbox.audit()).toMatchObject({ ok: true }))
      expect((await deposit(key)).status).toBe(200)
      expect(await moved()).toBe(2)
      expect(await sandbox.audit()).toMatchObject({ ok: true })
      const { rows } = await client.query(`select epoch from yield_sandbox.namespace where name = 'default'`)
      expect(rows).toEqual([{ epoch: '1' }])
    })
  })
})

describe.skipIf(noPostgres !== undefined)(
  `an entry that is appended ahead${noPostgres ? ` (${noPostgres})` : ''}`,
  () => {
    let url: string
    let namespaces = 0
    beforeAll(() => {
      url = newDatabase()
    })

    /** Both journals of a new namespace, which are there already: making one is a write as well. */
    async function opened(): Promise<
      { namespace: string; storage: PostgresStorage; client: Client } & Record<
        'chain' | 'ledger',
        Awaited<ReturnType<PostgresStorage['journal']>>
      >
    > {
      const registry = await openRegistry(url)
      onTestFinished(() => registry.close())
      const namespace = `ahead-${++namespaces}`
      const storage = await openStorage(registry, namespace)
      const [chain, ledger] = [await storage.journal('chain'), await storage.journal('ledger')]
      return { namespace, storage, chain, ledger, client: await ownConnection(url) }
    }

    test('is stored by itself if nothing follows', async () => {
      const { namespace, chain, client } = await opened()
      await chain.append('block', { ahead: true })
      expect(await writes(client, 0, namespace)).toEqual(['chain'])
    })

    test('takes what follows into its write, in order', async () => {
      const { namespace, chain, ledger, client } = await opened()
      expect(chain.ordered).toBe(true)
      const block = chain.append('block', { ahead: true })
      await new Promise(setImmediate)
      await new Promise(setImmediate)
      await Promise.all([block, ledger.append('booked')])
      expect(await writes(client, 0, namespace)).toEqual(['chain ledger'])
    })

    test('is lost with its namespace and all that follows if it is refused', async () => {
      const { namespace, storage, chain, ledger, client } = await opened()
      await beforeEntries(client, 'chain%', `raise exception 'no' using errcode = '22023'`)
      const block = chain.append('block', { ahead: true })
      const booked = ledger.append('booked')
      await expect(block).rejects.toThrow(/an entry that others follow was refused: .*\(no\)/)
      await expect(booked).rejects.toThrow(/an entry that others follow was refused/)
      await expect(ledger.append('later')).rejects.toThrow()
      expect(storage.lost.aborted).toBe(true)
      expect(await storedEntries(client, namespace)).toEqual([])
      await noMore(client)
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
