import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { type Answer, Partner } from '../helpers/partner.ts'

/** Where the clock of all of them stands. */
export const CLOCK = '2030-01-01T00:00:00Z'
const HEADERS = ['x-service-request-id', 'idempotency-key-replay', 'retry-after', 'content-type']

/** A key of a fixed run: UUID v4, the same every time. */
const keyOf = (i: number, step: number) => `00000000-0000-4000-8000-${String(i * 100 + step).padStart(12, '0')}`

const seen = ({ status, headers, body }: Answer) => ({
  status,
  headers: Object.fromEntries(HEADERS.map((name) => [name, headers.get(name)])),
  body,
})

/** What one test does in its namespace: no two do the same. Everything that it is answered. */
export async function runIsolated(handle: SandboxHandle, i: number): Promise<unknown[]> {
  const partner = new Partner(handle)
  const told: unknown[] = []
  const tell = async (answer: Promise<Answer>) => told.push(seen(await answer))
  const user = `user-${i}`
  await tell(partner.post('end_users', { external_id: user }, { key: keyOf(i, 0) }))
  const body = await partner.portfolioBody(i % 2 === 0 ? 'aave-usdc' : 'morpho-usdc', `of ${i}`)
  const created = await partner.post(`end_users/${user}/portfolios`, body, { key: keyOf(i, 1) })
  told.push(seen(created))
  const { portfolio_id } = created.body
  await handle.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
  const deposit = () => partner.deposit(user, portfolio_id, String(1_000_000 + i), { key: keyOf(i, 2) })
  told.push(await deposit().then(seen, () => 'dropped'))
  await tell(deposit())
  await handle.clock.advance(`${30 * (1 + (i % 12))}d`)
  await tell(partner.get(`end_users/${user}/portfolios`))
  await tell(partner.withdraw(user, portfolio_id, '500000', { key: keyOf(i, 3) }))
  await tell(partner.get(`end_users/${user}/transactions`))
  const block = await handle.chain.getBlock()
  told.push([String(block.number), block.hash])
  told.push((await handle.audit()).ok)
  if (i % 3 === 0) {
    await handle.reset()
    await tell(partner.get('end_users/alice/portfolios'))
    await tell(partner.get(`end_users/${user}/portfolios`))
  }
  return told
}

/** In a namespace of that name in a sandbox where nobody else is. */
export async function runAlone(i: number): Promise<unknown[]> {
  await using lonely = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7, clock: CLOCK })
  await using mine = await lonely.namespaces.create({ name: `n${i}` })
  return await runIsolated(mine, i)
}
