import { beforeAll, beforeEach, expect } from 'vitest'
import type { AuditReport } from '../../src/control/contract.ts'
import type { Write } from '../../src/domain/ports/store.ts'
import type { Portfolio, Transaction } from '../../src/domain/records.ts'
import { Ledger, type OpenNamespace, openNamespace } from '../reliability/ledger.ts'

export const DAY = 86_400_000
/** Two portfolios of one wallet share a pool. */
export const POOLS = ['aave-usdc', 'aave-usdc', 'morpho-usdc', 'aave-weth', 'morpho-weth']
const ALL = ['shares', 'principal', 'balances', 'wallets', 'hashes', 'idempotency', 'transfers']

export let open: OpenNamespace
export let ledger: Ledger

/** Returns what ends it. */
async function begin(): Promise<() => Promise<void>> {
  const opened = await openNamespace()
  open = opened
  ledger = new Ledger(opened)
  return () => opened.stop()
}

/** Opens a namespace before each test of a file or group, and deletes it after it. */
export function openEachTime(): void {
  beforeEach(begin)
}

/** Opens one for all tests of a file or group. */
export function openOnce(): void {
  beforeAll(begin)
}

export const parts = () => open.sandbox.namespace.services
export const clock = () => parts().service.clock
export const store = () => parts().service.store
export const audit = () => open.control.audit()
export const detail = (report: AuditReport, id: string) => report.checks.find((check) => check.id === id)!.detail
export const failing = ({ checks }: AuditReport) => checks.filter(({ ok }) => !ok).map(({ id }) => id)

export async function expectSound(): Promise<AuditReport> {
  const report = await audit()
  expect(report.checks.filter(({ ok }) => !ok)).toEqual([])
  expect(report.ok).toBe(true)
  expect(report.checks.map(({ id }) => id)).toEqual(ALL)
  return report
}

/** Carol's portfolios on {@link POOLS}, each with a deposit that a month of yield has followed. */
export async function busy(): Promise<string[]> {
  const jars: string[] = []
  for (const pool of POOLS) jars.push(await open.acme.open('carol', pool))
  for (const [i, jar] of jars.entries())
    expect((await open.acme.deposit('carol', jar, `${7 + i}000000001`)).status).toBe(200)
  clock().advance(30 * DAY)
  return jars
}

export async function portfolio(id: string): Promise<Portfolio> {
  return (await store().get('portfolios', id))!
}

/** Newest first. */
export async function transactions(jar: string): Promise<Transaction[]> {
  const carol = (await ledger.users()).find(({ external_id }) => external_id === 'carol')!
  return (await ledger.transactions(carol)).filter(({ portfolio_id }) => portfolio_id === jar)
}

/** Puts a changed record into the ledger, as a bug would. */
export function change<C extends 'portfolios' | 'transactions', R extends Portfolio | Transaction>(
  collection: C,
  record: R,
  to: (record: R) => Partial<R>,
): Write {
  return { collection, put: { ...record, ...to(record) } } as unknown as Write
}
