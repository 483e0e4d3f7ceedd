import { brotliCompressSync, constants } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { version } from '../../src/version.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { partsOf, read, repacked } from './repacked.ts'
import { type Answered, BEGINNING, KEYS, richState, shownBy } from './rich-state.ts'

/** Blocks that would unpack to more than a sandbox ever packs. */
const BOMB = brotliCompressSync(Buffer.alloc(65 * 2 ** 20), {
  params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
}).toString('base64')

let sandbox: SandboxHandle
let answered: Answered[]
let saved: string
let before: string

const load = (snapshot: string | Uint8Array = saved) => testNamespace({ snapshot })
const without = (part: string) => new RegExp(`the part ${part} is not what a sandbox writes`)

beforeAll(async () => {
  sandbox = await testNamespace({ clock: BEGINNING, confirmationDelay: 0 })
  answered = await richState(sandbox)
  before = await shownBy(sandbox)
  saved = await sandbox.snapshot()
})

describe('a loaded snapshot', () => {
  // Two for all tests, since each load starts an Anvil; the test that changes one comes after those that read.
  let copies: [SandboxHandle, SandboxHandle]
  beforeAll(async () => {
    copies = await Promise.all([load(), load(Buffer.from(saved))])
  })
  afterAll(() => Promise.all(copies.map((copy) => copy.stop())))

  test('is as it was saved when it is saved again', async () => {
    const [copy] = copies
    const [one, other] = await Promise.all([partsOf(saved), copy.snapshot().then(partsOf)])
    // Anvil does not know the randomness of the block that it started with.
    const compared = (parts: typeof one) =>
      JSON.stringify(parts.filter(({ name }) => name !== 'about')).replace(/"mixHash":"0x[0-9a-f]+"/g, '')
    expect(compared(other)).toBe(compared(one))
  })

  test('shows the same, in API and RPC, byte for byte, in two namespaces at once', async () => {
    expect(answered.map(({ answer }) => answer.status)).toEqual([200, 200, 200, 422, 200])
    for (const copy of copies) {
      expect(await shownBy(copy)).toBe(before)
      expect(await copy.audit()).toMatchObject({ ok: true })
      expect(copy.seed).toBe(sandbox.seed)
    }
    expect(await shownBy(sandbox)).toBe(before)
  })

  test('is led to by fresh credentials, and a user token of the same key is good', async () => {
    const [copy] = copies
    const [theirs, ours] = [sandbox.tenants[0]!, copy.tenants[0]!]
    expect(ours).toMatchObject({
      slug: theirs.slug,
      tenant_id: theirs.tenant_id,
      private_key_pem: theirs.private_key_pem,
    })
    expect(ours.client_secret).not.toBe(theirs.client_secret)
    const token = await sandbox.userToken('zoe')
    const answer = await new Partner(copy).get('end_users/zoe/portfolios', { headers: { 'x-user-token': token } })
    expect(answer.status).toBe(200)
  })

  test('repeats the answers of Idempotency-Keys, and refuses other bodies', async () => {
    const [copy] = copies
    const partner = new Partner(copy)
    for (const { ask, answer } of answered.slice(-2)) {
      const again = await ask(partner)
      expect([again.status, again.body]).toEqual([answer.status, answer.body])
    }
    const yan = answered[1]!.answer.body.portfolio_id
    const other = await partner.deposit('yan', yan, '1', { key: KEYS.third })
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_in_use_with_different_params' } })
    expect(await shownBy(copy)).toBe(before)
  })

  test('goes on as the first would: the same yield, transfers, blocks', async () => {
    await using twin = await sandbox.namespaces.create({ from: sandbox.namespace })
    const [, copy] = copies
    const balances = []
    for (const one of [twin, copy]) {
      await one.clock.advance('90d')
      const partner = new Partner(one)
      const yan = (await partner.get('end_users/yan/portfolios')).body.data[0]
      const { body } = await partner.withdraw('yan', yan.portfolio_id, '1000000')
      balances.push([yan.total_balance, body.amount_changed, body.yield_earned, await one.chain.getBlockNumber()])
      expect(await one.audit()).toMatchObject({ ok: true })
    }
    expect(balances[1]).toEqual(balances[0])
    expect(BigInt(balances[0]![0])).toBeGreaterThan(990_000_001n)
  })

  test('is reset to the fixtures, and can begin at a later moment', async () => {
    await using copy = await testNamespace({ snapshot: saved, clock: '2031-01-01T00:00:00Z' })
    expect(await copy.clock.iso()).toBe('2031-01-01T00:00:00.000Z')
    await copy.reset()
    expect((await new Partner(copy).get('end_users/zoe/portfolios')).status).toBe(404)
    expect((await new Partner(copy).get('end_users/alice/portfolios')).body.data).toHaveLength(1)
    await expect(testNamespace({ snapshot: saved, clock: BEGINNING })).rejects.toThrow(
      'The clock of the snapshot is past',
    )
  })
})

test('a transfer that is signed and not settled is settled by the load, once, and in the first as well', async () => {
  await using first = await testNamespace({ clock: BEGINNING, confirmationDelay: '1h' })
  const partner = new Partner(first)
  const portfolio = await partner.open('zoe')
  const pending = partner.deposit('zoe', portfolio, '7000000', { key: KEYS.first })
  await expect
    .poll(async () => (await read(await first.snapshot())).puts.filter(([name]) => name === 'transfers'))
    .toHaveLength(1)
  await using copy = await load(await first.snapshot())
  const theirs = new Partner(copy)
  expect((await theirs.get('end_users/zoe/portfolios')).body.data).toMatchObject([{ deposited: '7000000' }])
  const again = await theirs.deposit('zoe', portfolio, '7000000', { key: KEYS.first })
  await first.clock.advance('2h')
  expect((await pending).body.tx_hash).toBe(again.body.tx_hash)
  for (const one of [first, copy]) {
    expect((await new Partner(one).get('end_users/zoe/transactions')).body.data).toHaveLength(1)
    expect(await one.audit()).toMatchObject({ ok: true })
  }
})

test('no client secret and no private key is in a snapshot', async () => {
  const json = JSON.stringify(await partsOf(saved))
  for (const { client_secret, private_key_pem } of sandbox.tenants) {
    expect(json).not.toContain(client_secret)
    expect(json).not.toContain(private_key_pem!.split('\n')[1])
  }
  expect(json).not.toMatch(/client_secret|PRIVATE KEY|private_key|demo-secret|"d":/)
})

test('a running clock goes on from the saved moment, and what a fault broke is mended', async () => {
  await using first = await testNamespace({ confirmationDelay: 0 })
  await first.clock.advance('45d')
  await first.faults.add({ kind: 'pool_paused', times: 'always', match: { operation: 'deposit' } })
  const portfolio = await new Partner(first).open('zoe')
  expect((await new Partner(first).deposit('zoe', portfolio, '5')).status).toBeGreaterThan(400)
  const text = await first.snapshot()
  const moment = (await read(text)).about.clock
  expect(moment.frozen).toBe(false)
  await using copy = await load(text)
  expect(await copy.clock.state()).toMatchObject({ frozen: false })
  expect((await copy.clock.now()) - moment.now).toBeLessThan(60_000)
  expect(await copy.faults.list()).toEqual([])
  expect((await new Partner(copy).deposit('zoe', portfolio, '5000000')).status).toBe(200)
  await first.faults.clear()
})

describe('what is refused', () => {
  const refused = async (text: string, words: RegExp | string) => {
    const names = (await sandbox.namespaces.list()).map(({ name }) => name)
    await expect(load(text)).rejects.toThrow(words)
    expect((await sandbox.namespaces.list()).map(({ name }) => name)).toEqual(names)
  }

  test('a file that is something else, cut off, changed, or of a later version', async () => {
    await refused('hello', 'it is not a snapshot of yield-sandbox')
    await refused(saved.slice(0, 5000), /it is cut off: it ends at byte 5000/)
    await refused(`${saved}\n`, /something else follows/)
    await refused(
      saved.replace(/(.{20000}).(.*)/s, '$1!$2'),
      /it is damaged: the checksum of the line at byte \d+ is wrong/,
    )
    const lines = saved.split('\n')
    await refused(lines.filter((line) => !line.includes(' showings ')).join('\n'), /is not that of all before it/)
    const { withFirstLine } = await import('./first-line.ts')
    await refused(
      withFirstLine(saved, 2, '9.1.0'),
      `it is of a later version: written by 9.1.0 in form 2, and this is ${version}, which reads form 1. Fix: update yield-sandbox to 9.1.0 or later.`,
    )
  })

  test('one that has whole checksums and strange content', async () => {
    const change = (changed: Parameters<typeof repacked>[1]) => repacked(saved, changed)
    const ledger = (edit: (puts: [string, number, Record<string, unknown>][]) => unknown) =>
      change((value, name) => (name === 'ledger' ? (edit(value) ?? value) : undefined))
    const evil = JSON.parse('{"__proto__": {"polluted": true}}')
    await refused(
      await ledger((puts) => puts.map(([name, n, record]) => [name, n, { ...record, ...evil, x: 1 }])),
      without('ledger'),
    )
    await refused(
      await change((value, name) => (name === 'about' ? Object.assign(value, { extra: 1 }) : undefined)),
      without('about'),
    )
    await refused(
      await ledger((puts) => puts.filter(([name]) => name !== 'end_users')),
      /names a end_user_id that it does not hold/,
    )
    await refused(
      await ledger((puts) => [...puts, puts.find(([name]) => name === 'transactions')]),
      /holds a record of transactions twice/,
    )
    await refused(
      await ledger((puts) =>
        puts.map(([name, n, record]) => [name, n, 'deposited' in record ? { ...record, deposited: '-1' } : record]),
      ),
      without('ledger'),
    )
    await refused(
      await change((value, name) => (name.startsWith('blocks-') ? { ...value, blocks: BOMB } : undefined)),
      /the blocks of chain 31337 .* cannot be read/,
    )
    const deep = (levels: number): unknown => (levels === 0 ? [] : [deep(levels - 1)])
    await refused(await change((value, name) => (name === 'showings' ? deep(70) : value)), /nests deeper/)
    await refused(
      await change((value, name) => (name.startsWith('chain-') ? { ...value, hardfork: '--fork-url' } : undefined)),
      without('chain-31337'),
    )
    await refused(
      await change((value, name) => (name.startsWith('chain-') ? { ...value, accounts: '{}, "x": {}' } : undefined)),
      without('chain-31337'),
    )
    await refused(
      await change((value, name) => (name.startsWith('blocks-') ? { ...value, first: value.first + 1 } : undefined)),
      /the blocks of chain 31337 .* cannot be read/,
    )
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('one of another world: other contracts, protocols, chains', async () => {
    const protocols = await repacked(saved, (value, name) =>
      name === 'about' ? { ...value, protocols: ['a', 'b'] } : undefined,
    )
    await refused(protocols, 'it is of another world: its protocols are called a and b, and here aave and morpho')
    const pool = await repacked(saved, (value, name) => {
      if (name !== 'ledger') return undefined
      for (const [collection, , record] of value)
        if (collection === 'pools') record.market_address = `0x${'1'.repeat(40)}`
      return value
    })
    await refused(pool, /it is of another world: its pool aave-usdc is at 0x1{40} on chain 31337, and here at 0x/)
    const fork = await repacked(saved, (value, name) =>
      name === 'about' ? { ...value, chains: [{ chain_id: '31337', forked: true }] } : undefined,
    )
    await refused(fork, 'its chain 31337 is a fork, and this sandbox does not know of what. Fix: start with --fork-url')
  })

  test('a wish that names what the snapshot brings along', async () => {
    await expect(testNamespace({ snapshot: saved, seed: 3 })).rejects.toThrow('A snapshot has its own seed')
    await expect(testNamespace({ snapshot: saved, from: 'default' })).rejects.toThrow('A snapshot has its own from')
    await expect(testNamespace({ snapshot: '' })).rejects.toThrow(/snapshot/)
  })
})
