import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { ControlClient } from '../../src/control/client.ts'
import type { FaultRule } from '../../src/control/contract.ts'
import { DEFAULT_FIXTURES } from '../../src/read-fixture.ts'
import { partnerAt } from '../helpers/partner.ts'
import type { Command } from './command.ts'
import { commandStarter } from './command-starter.ts'
import { runHere } from './in-process.ts'

const START = ['--port', '0', '--json', '--confirmation-delay', '0', '--log-level', 'warn']

let directory: string
let data: string
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-data-'))
  data = join(directory, 'data')
  const command = start(['--data-dir', data, '--seed', '7'])
  await command.credentials()
  const refused = await runHere([...START, '--data-dir', data])
  expectRefused(refused, { code: 1, line: new RegExp(`${data}: .*process ${command.child.pid}.* uses it`) })
  command.kill('SIGTERM')
  expect((await command.ended).code).toBe(0)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const startCommand = commandStarter()

function start(args: readonly string[], env: Record<string, string> = {}): Command {
  return startCommand([...START, ...args], { env })
}

/** A copy of a data directory that a sandbox has used, to be damaged. */
function used(name: string): string {
  const copy = join(directory, name)
  cpSync(data, copy, { recursive: true })
  return copy
}

/** One line, and nothing else. */
function expectRefused(
  { code, stdout, stderr }: { code: number | null; stdout: string; stderr: string },
  expected: { code: number; line: RegExp },
): void {
  expect(stderr).toMatch(expected.line)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect({ code, stdout }).toEqual({ code: expected.code, stdout: '' })
}

/** Every file's name and content. */
function contentOf(path: string): Record<string, string> {
  const hash = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(path, name)))
      .digest('hex')
  return Object.fromEntries(readdirSync(path).map((name) => [name, hash(name)]))
}

async function expectUntouched(path: string, expected: { code: number; line: RegExp }, args: string[] = []) {
  const before = contentOf(path)
  expectRefused(await runHere([...START, '--data-dir', path, ...args]), expected)
  expect(contentOf(path)).toEqual(before)
}

describe('a directory that cannot be used is refused in one line, and not changed', () => {
  const damages: [string, string, (file: string) => void, RegExp][] = [
    ['a flipped byte', 'ledger.journal', flip, /ledger\.journal: line \d+, byte \d+: the checksum .* Fix: /],
    ['a flipped byte', 'blocks-31337.journal', flip, /blocks-31337\.journal: .*(checksum|header).* Fix: /],
    ['a cut end', 'ledger.journal', cut, /ledger\.journal: it ends at byte \d+, .* Fix: /],
    ['a cut end', 'chain-31337.journal', cut, /chain-31337\.journal: it ends at byte \d+, .* Fix: /],
    ['a cut end', 'blocks-31337.journal', cut, /blocks-31337\.journal: .*(ends at byte|header).* Fix: /],
    ['no journal', 'chain-31337.journal', rmSync, /chain-31337\.journal: it is missing.* Fix: /],
    ['no manifest', 'manifest.json', rmSync, /it holds other files .* and no manifest\.json .* Fix: /],
    ['a manifest that is none', 'manifest.json', (file) => writeFileSync(file, '{'), /it is not JSON.* Fix: /],
    ['another format', 'manifest.json', anotherFormat, /manifest\.json: it is of format 9, .* Fix: start the version /],
  ]
  test.each(damages)('%s: %s', async (what, name, damage, line) => {
    const path = used(`${what} ${name}`)
    damage(join(path, name))
    await expectUntouched(path, { code: 1, line })
  })

  test('one that was made with another seed, or another fixture', async () => {
    await expectUntouched(data, { code: 2, line: /it was made with seed 7, not 8\. Fix: .*--seed/ }, ['--seed', '8'])
    const fixture = parse(
      readFileSync(DEFAULT_FIXTURES, 'utf8').replaceAll('demo-keys/', `${dirname(DEFAULT_FIXTURES)}/demo-keys/`),
    )
    fixture.tenants.pop()
    const file = join(directory, 'other.yaml')
    writeFileSync(file, stringify(fixture))
    await expectUntouched(data, { code: 2, line: /another|other tenants/ }, ['--fixtures', file])
  })

  test("somebody else's", async () => {
    const path = join(directory, 'project')
    mkdirSync(path)
    writeFileSync(join(path, 'package.json'), '{}')
    await expectUntouched(path, { code: 1, line: /it holds other files \(package\.json\).* Fix: / })
  })

  test('one that cannot be made', async () => {
    const file = join(directory, 'file')
    writeFileSync(file, '')
    for (const path of [file, join(file, 'below'), '/proc/yield-sandbox/data']) {
      const line = new RegExp(`${path}.* Fix: .*--data-dir`)
      expectRefused(await runHere([...START, '--data-dir', path]), { code: 1, line })
    }
  })
})

describe('a sandbox goes on from where it was', () => {
  test('after Ctrl-C, with the directory from the environment', async () => {
    const env = { YIELD_SANDBOX_DATA_DIR: join(directory, 'environment') }
    const first = start([], env)
    const before = await first.credentials()
    const acme = partnerAt(before)
    const portfolio = await acme.open('carol')
    const key = crypto.randomUUID()
    const deposit = await acme.deposit('carol', portfolio, '1000', { key })
    first.kill('SIGINT')
    expect(await first.ended).toMatchObject({ code: 0, stderr: '' })

    const after = await start([], env).credentials()
    expect(after.seed).toBe(before.seed)
    const again = await partnerAt(after).deposit('carol', portfolio, '1000', { key })
    expect(again.body).toEqual(deposit.body)
    expect(again.headers.get('idempotency-key-replay')).toBe('true')
    expect((await new ControlClient(after.base_url).audit()).ok).toBe(true)
  })

  test('killed with a pool paused, another lent out and a yield changed: all are mended', async () => {
    const path = used('broken')
    const broken = start(['--data-dir', path])
    const before = partnerAt(await broken.credentials())
    const control = new ControlClient(before.sandbox.baseUrl)
    const portfolio = await before.open('carol')
    const lent = await before.open('carol', 'aave-weth')
    await before.deposit('carol', lent, '1000000')
    const { apy } = await before.pool('morpho-usdc')
    const always: Omit<FaultRule, 'kind'> = { phase: 'on_request', times: 'always' }
    await control.addFaults([
      { kind: 'pool_paused', ...always, match: { operation: 'list_pools' }, with: { pool: 'aave-usdc' } },
      {
        kind: 'apy_change',
        ...always,
        match: { operation: 'list_portfolios' },
        with: { pool: 'morpho-usdc', apy: 0.5 },
      },
    ])
    await control.addFaults([{ kind: 'illiquid_pool', match: { operation: 'withdraw' } }])
    expect((await before.withdraw('carol', lent, '1000')).body.code).toBe('transaction_reverted')
    await before.get('pools')
    await before.get('end_users/carol/portfolios')
    expect((await before.deposit('carol', portfolio, '1000')).body.code).toBe('transaction_reverted')
    expect(Number((await before.pool('morpho-usdc')).apy)).toBeGreaterThan(Number(apy) + 0.1)
    broken.kill('SIGKILL')
    await broken.ended

    const after = partnerAt(await start(['--data-dir', path]).credentials())
    expect((await after.deposit('carol', portfolio, '1000')).status).toBe(200)
    expect((await after.withdraw('carol', lent, '1000')).status).toBe(200)
    expect((await after.pool('morpho-usdc')).apy).toBe(apy)
    expect(await new ControlClient(after.sandbox.baseUrl).faults()).toEqual([])
  })

  test('killed with a clock that was moved and stopped', async () => {
    const path = used('clock')
    const moved = start(['--data-dir', path])
    const { now } = await new ControlClient((await moved.credentials()).base_url).moveClock({
      advance: '8d',
      freeze: true,
    })
    moved.kill('SIGKILL')
    await moved.ended
    const control = new ControlClient((await start(['--data-dir', path]).credentials()).base_url)
    expect(await control.clock()).toMatchObject({ now, frozen: true })
    await control.moveClock({ freeze: false })
    expect(Date.parse((await control.clock()).now)).toBeGreaterThanOrEqual(Date.parse(now))
  })
})

function flip(file: string): void {
  const bytes = readFileSync(file)
  const at = bytes.length - 10
  bytes[at] = bytes[at]! ^ 1
  writeFileSync(file, bytes)
}

function cut(file: string): void {
  truncateSync(file, readFileSync(file).length - 5)
}

/** As a later release may write it. */
function anotherFormat(file: string): void {
  const { checksum: _, ...data } = JSON.parse(readFileSync(file, 'utf8'))
  const later = { ...data, format: 9 }
  const checksum = crc32(JSON.stringify(later)).toString(16).padStart(8, '0')
  writeFileSync(file, `${JSON.stringify({ ...later, checksum }, undefined, 2)}\n`)
}
