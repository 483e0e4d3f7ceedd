import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OperationPage } from '../../src/control/contract.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle

beforeAll(async () => {
  sandbox = await testSandbox()
})
afterAll(() => sandbox.stop())

const summaryOf = async (name: string) => (await sandbox.namespaces.list()).find((one) => one.name === name)

test('the list has the requests of each namespace, and when the newest one came', async () => {
  await using mine = await sandbox.namespaces.create({ clock: '2030-01-01T00:00:00Z' })
  expect(await summaryOf(mine.namespace)).toMatchObject({ requests: 0, last_request_at: null, failed_findings: null })
  const partner = new Partner(mine)
  await partner.get('pools')
  await partner.get('pools')
  const { data } = await mine.requests.list()
  expect(await summaryOf(mine.namespace)).toMatchObject({ requests: data.length, last_request_at: data[0]!.began.wall })
  expect(await summaryOf('default')).toMatchObject({ requests: 0, last_request_at: null })
  await mine.requests.clear()
  expect(await summaryOf(mine.namespace)).toMatchObject({ requests: 0, last_request_at: null })
})

test('failed findings are the broken rules as somebody who looks has them judged, and null until then', async () => {
  await using mine = await sandbox.namespaces.create()
  const partner = new Partner(mine)
  const portfolio_id = await partner.open('dave')
  await mine.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
  const body = { portfolio_id, amount_minor: '250000000' }
  await expect(partner.post('end_users/dave/deposit', body, { key: randomUUID() })).rejects.toThrow()
  await partner.post('end_users/dave/deposit', body, { key: randomUUID() })
  const { contradicted } = await mine.report({ ended: false })
  expect(contradicted).toBeGreaterThan(0)
  expect(await summaryOf(mine.namespace)).toMatchObject({ failed_findings: null })
  const looks = async () => (await (await fetch(`${mine.controlUrl}/operations`)).json()) as OperationPage
  await eventually(async () => expect(await looks()).toMatchObject({ judged: true, headline: { contradicted } }))
  expect(await summaryOf(mine.namespace)).toMatchObject({ failed_findings: contradicted })
  expect(await summaryOf('default')).toMatchObject({ failed_findings: null })
})
