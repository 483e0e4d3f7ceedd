import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { eventually } from '../helpers/eventually.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

let directory: string
let open: OpenSandbox
let portfolio: string
let errors: string[]
beforeEach(async () => {
  directory = join(temporaryDirectory(), 'data')
  errors = []
  const logger = pino({ level: 'error' }, { write: (line) => void errors.push(JSON.parse(line).msg) })
  open = await openSandbox({ dataDir: directory, logger })
  onTestFinished(() => open.stop().catch(() => undefined))
  portfolio = await open.acme.open('carol')
  expect((await deposit()).status).toBe(200)
})

const deposit = () => open.acme.deposit('carol', portfolio, '1000')
const readiness = () => open.sandbox.namespace.readiness()
const GONE = /data.*: it was (removed or renamed|replaced) while it was in use\. Fix: put it back/

async function expectNoticed(): Promise<void> {
  expect((await deposit()).status).toBe(503)
  expect((await open.acme.get('end_users/carol/transactions')).body.data).toHaveLength(1)
  await eventually(() => expect(readiness()).toMatchObject({ ready: false, reason: expect.stringMatching(GONE) }))
  expect(errors).toContainEqual(expect.stringMatching(GONE))
}

test('a directory that is renamed while it is in use is noticed, and used again when it is back', async () => {
  renameSync(directory, `${directory}-elsewhere`)
  await expectNoticed()
  expect(existsSync(directory)).toBe(false)
  renameSync(`${directory}-elsewhere`, directory)
  await eventually(() => expect(readiness()).toEqual({ ready: true }))
  await eventually(async () => expect((await deposit()).status).toBe(200))
  await new Ledger(open).expectSound()
  const { length } = (await open.acme.get('end_users/carol/transactions')).body.data
  await open.stop()
  open = await openSandbox({ dataDir: directory })
  expect((await open.acme.get('end_users/carol/transactions')).body.data).toHaveLength(length)
})

test('a namespace is not deleted while the directory is elsewhere: it would be back with it', async () => {
  await open.sandbox.namespaces.create({ name: 'mine' }, false)
  const drop = () => fetch(new URL('/_sandbox/namespaces/mine', open.sandbox.baseUrl), { method: 'DELETE' })
  renameSync(directory, `${directory}-elsewhere`)
  expect((await drop()).status).toBe(503)
  renameSync(`${directory}-elsewhere`, directory)
  expect((await open.sandbox.namespaces.list()).map(({ name }) => name)).toContain('mine')
  expect((await drop()).status).toBe(204)
  expect(readdirSync(join(directory, 'namespaces'))).toEqual([])
})

test('nothing is written into another directory that takes its place', async () => {
  renameSync(directory, `${directory}-elsewhere`)
  mkdirSync(directory)
  writeFileSync(join(directory, 'precious'), '')
  await expectNoticed()
  const asked = { reset: {}, clock: { advance: '1h' }, namespaces: { name: 'mine' } }
  for (const [path, body] of Object.entries(asked)) {
    const response = await fetch(new URL(`/_sandbox/${path}`, open.sandbox.baseUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect([path, response.status]).toEqual([path, 503])
  }
  expect((await open.acme.get('end_users/carol/transactions')).body.data).toHaveLength(1)
  expect(readdirSync(directory)).toEqual(['precious'])
})

test('a directory that is removed while it is in use is not said to be kept: the end says so', async () => {
  rmSync(directory, { recursive: true })
  await expectNoticed()
  await expect(open.stop()).rejects.toThrow(GONE)
  expect(existsSync(directory)).toBe(false)
})

test('a journal that is removed while it is in use is noticed', async () => {
  rmSync(join(directory, 'ledger.journal'))
  await expectNoticed()
})
