import { randomUUID } from 'node:crypto'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner } from '../helpers/partner.ts'

/** 250.00 of a token with six decimals. */
export const AMOUNT = '250000000'

/** Lets the answer of the next deposit of an end user be lost, after its transaction is out. */
export async function dropNextDeposit(sandbox: SandboxHandle, external_id: string): Promise<void> {
  await sandbox.faults.add({
    kind: 'drop_connection',
    phase: 'after_broadcast',
    match: { operation: 'deposit', external_id },
  })
}

/** A deposit whose answer is lost, and which is tried again under a key. @returns the portfolio */
async function depositDropped(sandbox: SandboxHandle, who: string, retriedWith: (key: string) => string) {
  const acme = new Partner(sandbox)
  const portfolio = await acme.open(who)
  await dropNextDeposit(sandbox, who)
  const key = randomUUID()
  await acme.deposit(who, portfolio, AMOUNT, { key }).catch(() => undefined)
  await acme.deposit(who, portfolio, AMOUNT, { key: retriedWith(key) })
  return portfolio
}

/** What a reader is to understand at a glance: alice's client is right, a withdrawal is refused, time goes by, bob's client pays twice. */
export async function playStory(sandbox: SandboxHandle): Promise<void> {
  const acme = new Partner(sandbox)
  const portfolio = await depositDropped(sandbox, 'alice', (key) => key)
  await acme.withdraw('alice', portfolio, '1000000000000')
  await acme.withdraw('alice', portfolio, '100000000')
  await sandbox.clock.advance('25d')
  await depositDropped(sandbox, 'bob', () => randomUUID())
  await acme.get('end_users/bob/transactions')
  await sandbox.clock.advance('65d')
}
