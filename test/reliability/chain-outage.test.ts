import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import type { Answer } from '../helpers/partner.ts'
import { anvilPid, Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

let open: OpenSandbox
let ledger: Ledger
beforeEach(async () => {
  open = await openSandbox()
  ledger = new Ledger(open)
})
afterEach(() => open.stop())

interface Order {
  user: string
  portfolio: string
  key: string
}

/** Deposits to be made, each under its own key: some share a portfolio, some a wallet. */
async function orders(): Promise<Order[]> {
  const users = ['carol', 'dave', 'erin', 'frank']
  const pools = ['aave-usdc', 'morpho-usdc']
  const opened = users.flatMap((user) =>
    pools.map((pool) => open.acme.open(user, pool).then((portfolio) => ({ user, portfolio }))),
  )
  const portfolios = await Promise.all(opened)
  return Array.from({ length: 24 }, (_, i) => ({ ...portfolios[i % portfolios.length]!, key: randomUUID() }))
}

const place = ({ user, portfolio, key }: Order): Promise<Answer> => open.acme.deposit(user, portfolio, '1000', { key })

function expectUnavailable({ status, body, headers }: Answer): void {
  expect({ status, code: body.code }).toEqual({ status: 503, code: 'chain_unavailable' })
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
}

describe('Anvil stands still under load', () => {
  test('clients are told to retry, and with their keys get one transaction each', async () => {
    const all = await orders()
    const aside = await open.acme.open('aside')
    const pid = anvilPid(open)
    const first = all.map(place)
    // Stopped with some of them signed: those are carried through, the others have not begun.
    await eventually(async () => expect(await ledger.unsettled()).toBeGreaterThan(0), 1)
    process.kill(pid, 'SIGSTOP')
    try {
      // Behind no transfer of its own portfolio: refused, since nothing of it is signed.
      expectUnavailable(await place({ user: 'aside', portfolio: aside, key: randomUUID() }))
      expect((await open.acme.get('end_users/carol/transactions')).status).toBe(200)
      const ready = await fetch(`${open.sandbox.baseUrl}/_sandbox/ready`)
      expect(ready.status).toBe(503)
      expect(await ready.json()).toMatchObject({ ready: false, reason: expect.stringContaining('chain') })
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    for (const answer of await Promise.all(first)) if (answer.status !== 200) expectUnavailable(answer)
    const retried = await Promise.all(all.map(place))
    expect(retried.map(({ status }) => status)).toEqual(all.map(() => 200))
    expect(new Set(retried.map(({ body }) => body.tx_hash)).size).toBe(all.length)
    await eventually(async () => expect(await ledger.unsettled()).toBe(0))
    await ledger.expectSound()
    expect((await fetch(`${open.sandbox.baseUrl}/_sandbox/ready`)).status).toBe(200)
  })
})

describe('Anvil is killed under load', () => {
  test('it is restarted: every request is answered, and nothing is lost or done twice', async () => {
    const all = await orders()
    for (let round = 0; round < 3; round++) {
      const first = all.map(place)
      if (round > 0) await Promise.race(first)
      const pid = anvilPid(open)
      process.kill(pid, 'SIGKILL')
      for (const answer of await Promise.all(first)) if (answer.status !== 200) expectUnavailable(answer)
      await eventually(() => expect(anvilPid(open)).not.toBe(pid))
      await eventually(() => expect(open.sandbox.namespace.readiness()).toEqual({ ready: true }))
    }
    const retried = await Promise.all(all.map(place))
    expect(retried.map(({ status }) => status)).toEqual(all.map(() => 200))
    const hashes = retried.map(({ body }) => body.tx_hash)
    expect(new Set(hashes).size).toBe(all.length)
    const users = ['carol', 'dave', 'erin', 'frank']
    const lists = await Promise.all(users.map((user) => open.acme.get(`end_users/${user}/transactions`)))
    const listed: string[] = lists.flatMap(({ body }) => body.data.map(({ tx_hash }: { tx_hash: string }) => tx_hash))
    expect(listed.sort()).toEqual(hashes.sort())
    await ledger.expectSound()
  })

  test('and can be stopped while it is being restarted', async () => {
    process.kill(anvilPid(open), 'SIGKILL')
    await eventually(() => expect(open.sandbox.namespace.readiness().reason).toContain('SIGKILL'))
    await open.stop()
  })
})
