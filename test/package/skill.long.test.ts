import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderExploration } from '../../src/explore/render/render-exploration.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { FINDINGS } from '../../src/verdict/findings/index.ts'
import { ROOT } from '../cli/command.ts'
import { runHere } from '../cli/in-process.ts'
import { confirmed, isOpen } from '../helpers/confirmation.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

const FOLDER = join(ROOT, 'skills/yield-sandbox')
const skill = readFileSync(join(FOLDER, 'SKILL.md'), 'utf8')
const reference = readFileSync(join(FOLDER, 'references/explore.md'), 'utf8')

test('the skill is short, and says when to use it', () => {
  expect(skill.split('\n').length).toBeLessThanOrEqual(60)
  expect(skill).toMatch(/^---\nname: yield-sandbox\ndescription: .{50,1024}\n---\n/)
  for (const [, file] of skill.matchAll(/\]\((references\/[\w.]+)\)/g))
    expect(readFileSync(join(FOLDER, file!), 'utf8')).toBeTruthy()
})

/** Each rule of SKILL.md by a text of it, and what shows that it is so. */
describe('the rules of the skill', () => {
  let sandbox: SandboxHandle
  let acme: Partner
  let portfolio: string
  beforeAll(async () => {
    sandbox = await testNamespace()
    acme = new Partner(sandbox)
    portfolio = await acme.open('carol')
  })
  afterAll(() => sandbox.stop())

  const listed = async (): Promise<{ tx_hash: string }[]> =>
    (await acme.get('end_users/carol/transactions?limit=100')).body.data
  const drop = () =>
    sandbox.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
  const says = (text: string) => expect(skill.replaceAll(/\s+/g, ' ')).toContain(text)

  test('1, 2: a dropped deposit happens; its key gives the first answer, a fresh one moves the money again', async () => {
    says('A fresh key moves the money again.')
    says('the first answer comes back with `Idempotency-Key-Replay: true`')
    await drop()
    const key = randomUUID()
    await expect(acme.deposit('carol', portfolio, '1000000', { key })).rejects.toThrow()
    const again = await acme.deposit('carol', portfolio, '1000000', { key })
    expect([again.status, again.headers.get('idempotency-key-replay')]).toEqual([200, 'true'])
    expect(await listed()).toHaveLength(1)
    await acme.deposit('carol', portfolio, '1000000')
    expect(await listed()).toHaveLength(2)
  })

  test('3: a list that does not have a transfer yet proves nothing', async () => {
    says('A list that does not have it yet proves nothing')
    await using slow = await testNamespace({ confirmationDelay: '5s' })
    await slow.clock.freeze()
    const client = new Partner(slow)
    const held = client.open('carol')
    const dropped = client.deposit('carol', await held, '1000000')
    expect(await isOpen(slow, dropped)).toBe(true)
    expect((await client.get('end_users/carol/transactions')).body.data).toEqual([])
    expect((await confirmed(slow, dropped)).status).toBe(200)
    expect((await client.get('end_users/carol/transactions')).body.data).toHaveLength(1)
  })

  test('4: 409 idempotency_key_in_progress is no refusal', async () => {
    says('409 `idempotency_key_in_progress` is no refusal')
    const before = (await listed()).length
    await sandbox.faults.add({ kind: 'error', phase: 'after_broadcast', with: { code: 'idempotency_key_in_progress' } })
    const key = randomUUID()
    const first = await acme.deposit('carol', portfolio, '1000000', { key })
    expect([first.status, first.body.code]).toEqual([409, 'idempotency_key_in_progress'])
    expect((await acme.deposit('carol', portfolio, '1000000', { key })).status).toBe(200)
    expect(await listed()).toHaveLength(before + 1)
  })

  test('5: 422 transaction_reverted is final for its key', async () => {
    says('422 `transaction_reverted` is final for its key')
    const before = (await listed()).length
    await sandbox.faults.add({ kind: 'revert', match: { operation: 'deposit' } })
    const key = randomUUID()
    const codes = [
      await acme.deposit('carol', portfolio, '1000000', { key }),
      await acme.deposit('carol', portfolio, '1000000', { key }),
    ]
    expect(codes.map(({ status, body }) => [status, body.code])).toEqual(codes.map(() => [422, 'transaction_reverted']))
    expect(await listed()).toHaveLength(before)
    expect((await acme.deposit('carol', portfolio, '1000000')).status).toBe(200)
  })

  test('6: a user token needs typ and kid; a request that was refused with 401 may be repeated with the same key', async () => {
    says('sign with RS256, `kid` and `typ: JWT`')
    const key = randomUUID()
    for (const header of [{ typ: null }, { kid: null }, { alg: 'RS512' }]) {
      const token = await sandbox.userToken('carol', { header })
      const { status } = await acme.deposit('carol', portfolio, '1000000', { key, headers: { 'x-user-token': token } })
      expect(status).toBe(401)
    }
    expect((await acme.deposit('carol', portfolio, '1000000', { key })).status).toBe(200)
  })

  test('7: amounts are integers in minor units, as strings', async () => {
    says('Amounts are integers in minor units, as strings.')
    for (const amount of ['1.5', '1e6', 1000000]) {
      expect((await acme.deposit('carol', portfolio, amount as string)).body.param).toBe('amount_minor')
    }
  })

  test('8: an expired cursor asks for the first page', async () => {
    says('410 `cursor_expired`')
    const { next_cursor: cursor } = (await acme.get('end_users/carol/transactions?limit=1')).body
    await sandbox.clock.advance('8d')
    const { status, body } = await acme.get(`end_users/carol/transactions?limit=1&starting_after=${cursor}`)
    expect([status, body.code]).toEqual([410, 'cursor_expired'])
    expect((await acme.get('end_users/carol/transactions?limit=1')).status).toBe(200)
  })

  test('9: the times to wait are those of the rules, and Retry-After is given', async () => {
    says('it takes up to 30 s, and a client that leaves before 60 s breaks the rules')
    const finding = FINDINGS.find(({ id }) => id === 'client-timeout')!
    expect(`${finding.rule} ${finding.fix}`).toMatch(/at least 60 seconds.*5 to 30 seconds.*90 is a good value/s)
    await sandbox.faults.add({ kind: 'error', with: { code: 'service_unavailable', retry_after: 1 } })
    expect((await acme.get('pools')).headers.get('retry-after')).toBe('1')
  })
})

describe('what the skill says of verdicts', () => {
  const exploration = JSON.parse(readFileSync(join(ROOT, 'test/explore/one-red-cell.generated.json'), 'utf8'))
  const report = JSON.parse(renderExploration('json', exploration))

  test('members of the report are those it names', () => {
    const [wrong] = report.incidents.wrong
    const result = report.results.find(({ trial }: { trial: { id: string } }) => trial.id === wrong.trials[0])
    expect([result.sentences.length > 0, result.findings[0].fix.length > 0]).toEqual([true, true])
    for (const [, member] of reference.matchAll(/^\| `([\w.]+)` +\|/gm)) {
      if (member!.includes('.') || member! in report) expect(report).toHaveProperty(member!)
    }
  })

  test('outcomes are those that explore has', async () => {
    const { OUTCOMES } = await import('../../src/oracle/outcome.ts')
    const [, table = ''] = reference.split('## What an outcome asks for')
    const named = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, id]) => id!)
    expect(named.length).toBeGreaterThan(5)
    for (const id of named) expect(OUTCOMES).toHaveProperty(id)
  })

  test('a worker that makes its key when it starts pays twice when it is killed', async ({ onTestFinished }) => {
    expect(skill).toContain('one that makes its key when it starts pays twice')
    const folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-skill-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const worker = [process.execPath, join(ROOT, 'test/crash/worker.mjs')]
    const flags = ['--crash', '--only', 'withdraw', '--results', join(folder, 'results.jsonl')]
    const explore = (MISTAKE: string) =>
      runHere(['explore', ...flags, '--', ...worker], { MISTAKE, WORKER_DIR: folder })
    expect((await explore('')).code).toBe(0)
    const wrong = await explore('key-per-start')
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('killed-unanswered: paid twice')])
  })

  test('exit codes are those of the command line', async () => {
    const nothing = await runHere(['exec', '--', 'true'])
    expect(nothing.code).toBe(4)
    expect((await runHere(['exec', '--help'])).stdout).toMatch(/3 .*4 /s)
  })
})
