import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import { startSandbox } from '../../src/index.ts'
import { Partner, partnerAt } from '../helpers/partner.ts'
import { commandStarter } from './command-starter.ts'
import { runHere } from './in-process.ts'

const START = ['--port', '0', '--json', '--confirmation-delay', '0', '--log-level', 'warn']
const DEPOSITS = 8

/** A deposit that was answered. */
interface Answered {
  key: string
  hash: string
}

let directory: string
let data: string
let portfolio: string
const deposits: Answered[] = []
const startCommand = commandStarter()

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-doctor-'))
  data = join(directory, 'data')
  const { command, partner, control } = await startOn(data)
  portfolio = await partner.open('zoe')
  await control.createNamespace({ name: 'mine' })
  for (let i = 0; i < DEPOSITS; i++) {
    const key = crypto.randomUUID()
    deposits.push({ key, hash: (await partner.deposit('zoe', portfolio, '1000', { key })).body.tx_hash })
  }
  command.kill('SIGKILL')
  await command.ended
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

async function startOn(path: string) {
  const command = startCommand([...START, '--data-dir', path])
  const credentials = await command.credentials()
  return { command, partner: partnerAt(credentials), control: new ControlClient(credentials.base_url) }
}

/** Shows a directory at another place, where it cannot be written. Returns false where that is not allowed. */
function mountReadOnly(path: string, at: string): boolean {
  const mount = (...args: string[]) => spawnSync('mount', args, { stdio: 'ignore' }).status === 0
  if (!mount('--bind', path, at)) return false
  if (mount('-o', 'remount,ro,bind', at)) return true
  unmount(at)
  return false
}

const unmount = (at: string) => spawnSync('umount', [at], { stdio: 'ignore' })

/** Takes the right to write away, for root by a mount. Returns how to give it back; undefined where that is not allowed. */
function makeReadOnly(path: string): (() => void) | undefined {
  if (process.getuid?.() === 0) return mountReadOnly(path, path) ? () => unmount(path) : undefined
  chmodSync(path, 0o500)
  return () => chmodSync(path, 0o700)
}

/** A copy of the directory, to be damaged. */
function damagedCopy(name: string, file: string, damage: (path: string) => void): string {
  const copy = join(directory, name)
  cpSync(data, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  damage(join(copy, file))
  return copy
}

/** Every file's content, by name. */
function contentOf(path: string): Record<string, string> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const hash = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
  return Object.fromEntries(files.map(({ parentPath, name }) => [join(parentPath, name), hash(join(parentPath, name))]))
}

/** Flips a bit in the line before which so many others stand, counted from the end. */
function flipInLine(fromEnd: number): (path: string) => void {
  return (path) => {
    const bytes = readFileSync(path)
    const lines = bytes.toString('latin1').split('\n')
    const at = lines.slice(0, lines.length - 1 - fromEnd).join('\n').length + 30
    bytes[at]! ^= 1
    writeFileSync(path, bytes)
  }
}

const spoilHeader = (path: string) => writeFileSync(path, readFileSync(path).fill('x', 0, 9))
const cut = (path: string) => truncateSync(path, readFileSync(path).length - 5)

/** What is left of the deposits: those from the first on, each under its hash; the rest of them are made anew. */
async function expectSound(path: string, atLeast: number): Promise<void> {
  await using sandbox = await startSandbox({ port: 0, confirmationDelay: 0, dataDir: path })
  const partner = new Partner(sandbox)
  expect(await sandbox.audit()).toMatchObject({ ok: true })
  const replays: boolean[] = []
  for (const { key, hash } of deposits) {
    const again = await partner.deposit('zoe', portfolio, '1000', { key })
    expect(again.status).toBe(200)
    const replay = again.headers.get('idempotency-key-replay') === 'true'
    if (replay) expect(again.body.tx_hash).toBe(hash)
    replays.push(replay)
  }
  expect(replays).toEqual(replays.toSorted().reverse())
  expect(replays.filter(Boolean).length).toBeGreaterThanOrEqual(atLeast)
  const [found] = (await partner.get('end_users/zoe/portfolios')).body.data
  expect(found.deposited).toBe(String(DEPOSITS * 1_000))
  expect(await sandbox.audit()).toMatchObject({ ok: true })
}

describe('doctor', () => {
  test('says of a whole directory that it is whole, and leaves it as it is', async () => {
    const before = contentOf(data)
    const { code, stdout, stderr } = await runHere(['doctor', '--data-dir', data])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^whole\tmanifest\.json\tformat 4, .* not closed in order$/m)
    expect(stdout).toMatch(/^whole\tledger\.journal\t\d+ entries$/m)
    expect(stdout).toMatch(/^whole\tnamespaces\/mine\.\S+\/namespace\.json\t/m)
    expect(stdout).not.toMatch(/damaged|lost/)
    expect(contentOf(data)).toEqual(before)
  })

  test('is refused while a sandbox uses the directory, where there is none, and for a salvage of nothing', async () => {
    const path = damagedCopy('in use', 'manifest.json', () => undefined)
    await startOn(path)
    const refused = await runHere(['doctor', '--data-dir', path])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/another sandbox .* uses it/)])
    expect(await runHere(['doctor', '--salvage', path])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--data-dir'),
    })
    const missing = join(directory, 'nowhere')
    expect(await runHere(['doctor', '--data-dir', missing])).toMatchObject({ code: 1 })
    expect(existsSync(missing)).toBe(false)
  })

  test('reads a medium that cannot be written, and salvages from it to one that can', async ({ skip }) => {
    const path = join(directory, 'medium')
    cpSync(data, path, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    const makeWritable = makeReadOnly(path)
    if (!makeWritable) return skip('nothing can be mounted here')
    try {
      expect(() => writeFileSync(join(path, 'probe'), '')).toThrow(/EROFS|EACCES/)
      expect(await runHere(['doctor', '--data-dir', path])).toMatchObject({ code: 0, stderr: '' })
      const salvaged = join(directory, 'from the medium')
      const { code, stdout } = await runHere(['doctor', '--data-dir', path, '--salvage', salvaged])
      expect([code, stdout]).toEqual([0, expect.stringContaining('salvaged')])
      await expectSound(salvaged, DEPOSITS)
    } finally {
      makeWritable()
    }
  })

  test('is refused on such a medium while a sandbox elsewhere uses the directory', async ({ skip }) => {
    const path = damagedCopy('in use elsewhere', 'manifest.json', () => undefined)
    const view = join(directory, 'view')
    await startOn(path)
    mkdirSync(view)
    if (!mountReadOnly(path, view)) return skip('nothing can be mounted here')
    try {
      const refused = await runHere(['doctor', '--data-dir', view])
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/another sandbox .* uses it/)])
    } finally {
      unmount(view)
    }
  })
})

describe('a salvage is of one moment: what is left has its hash, and nothing is there twice', () => {
  test.each<[string, string, (path: string) => void, number]>([
    ['a bit in the ledger, in its middle', 'ledger.journal', flipInLine(9), 1],
    ['the end of the ledger', 'ledger.journal', cut, DEPOSITS - 1],
    ['a bit in the chain, in its middle', 'chain-31337.journal', flipInLine(4), 1],
    ['the header of the ledger', 'ledger.journal', spoilHeader, DEPOSITS],
    // Not its end: if that was the last write of all, nothing shows that it is missing.
    ['what was shown', 'showings.journal', spoilHeader, DEPOSITS],
  ])('%s', async (name, file, damage, atLeast) => {
    const path = damagedCopy(name, file, damage)
    const before = contentOf(path)
    const examined = await runHere(['doctor', '--data-dir', path])
    expect([examined.code, examined.stderr]).toEqual([1, ''])
    expect(examined.stdout).toContain(`damaged\t${file}`)
    expect(examined.stdout).toMatch(/^lost\tdirectory\tof /m)
    const copy = join(directory, `${name}, salvaged`)
    const salvaged = await runHere(['doctor', '--data-dir', path, '--salvage', copy])
    expect([salvaged.code, salvaged.stderr]).toEqual([0, ''])
    expect(contentOf(path)).toEqual(before)
    await expectSound(copy, atLeast)
  })

  test('without its manifest there is nothing to salvage, since the seed is in it', async () => {
    const path = damagedCopy('no seed', 'manifest.json', cut)
    const copy = join(directory, 'no seed, salvaged')
    const { code, stdout } = await runHere(['doctor', '--data-dir', path, '--salvage', copy])
    expect([code, existsSync(copy)]).toEqual([1, false])
    expect(stdout).toMatch(/^lost\tall of it\tnothing can be salvaged: .*seed/m)
  })
})
