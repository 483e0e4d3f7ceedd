import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DataDirectory } from '../../src/data-dir/data-directory.ts'
import { DataDirectoryError } from '../../src/data-dir/data-directory-error.ts'
import { recordedLog } from './recorded-log.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const FIRST = { version: '0.1.0', seed: 7, fixture: 'abc' }
const open = (path: string, first = FIRST) => DataDirectory.open(path, { ...first, log: recordedLog() })

async function entries(directory: DataDirectory, name: string): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const entry of (await directory.journal(name)).read()) found.push(entry)
  return found
}

/** Why the directory is refused, in one line. */
async function refusal(path: string): Promise<string> {
  const error = await open(path).then(
    () => expect.fail('it was opened'),
    (error: Error) => error,
  )
  expect(error).toBeInstanceOf(DataDirectoryError)
  expect(error.message).not.toContain('\n')
  expect(error.message.startsWith(`${path}`)).toBe(true)
  expect(error.message).toMatch(/ Fix: .*--data-dir/)
  return error.message
}

describe('a data directory', () => {
  it('is made where nothing is, and keeps what is put into it', async () => {
    const path = join(temporaryDirectory(), 'not', 'there', 'yet')
    const directory = await open(path)
    expect(directory.manifest.data).toMatchObject({ ...FIRST, runs: 0, seeded: false })
    await directory.begin(FIRST.version)
    const [ledger, chain] = await Promise.all([directory.journal('ledger'), directory.journal('chain-1')])
    expect(await directory.journal('ledger')).toBe(ledger)
    await Promise.all([ledger.append({ a: 1 }), chain.append('b'), directory.manifest.update({ seeded: true })])
    await directory.close()

    const again = await open(path, { version: '0.2.0', seed: 8, fixture: 'def' })
    expect(again.manifest.data).toMatchObject({ ...FIRST, runs: 1, seeded: true, clean: false })
    await again.begin('0.2.0')
    expect(again.manifest.data).toMatchObject({ ...FIRST, version: '0.2.0', runs: 2 })
    expect(again.manifest.data.journals.toSorted()).toEqual(['chain-1', 'ledger'])
    expect(await entries(again, 'ledger')).toEqual([{ a: 1 }])
    expect(await entries(again, 'chain-1')).toEqual(['b'])
    await again.close()
  })

  it('is for its owner only', async () => {
    const path = join(temporaryDirectory(), 'data')
    const directory = await open(path)
    await directory.journal('ledger')
    expect(statSync(path).mode & 0o777).toBe(0o700)
    for (const name of ['manifest.json', 'ledger.journal']) {
      expect(statSync(join(path, name)).mode & 0o777).toBe(0o600)
    }
    await directory.close()
  })

  it('writes what it was given before it closes', async () => {
    const path = temporaryDirectory()
    const directory = await open(path)
    const journal = await directory.journal('ledger')
    const written = Array.from({ length: 50 }, (_, i) => journal.append(i))
    await directory.close()
    await Promise.all(written)
    const again = await open(path)
    expect(await entries(again, 'ledger')).toHaveLength(50)
    await again.close()
  })

  it('can be a link, an empty volume, or what a kill in the first moment left', async () => {
    const path = temporaryDirectory()
    const target = join(path, 'target')
    mkdirSync(join(target, 'lost+found'), { recursive: true })
    writeFileSync(join(target, 'manifest.json.tmp'), '{ "form')
    symlinkSync(target, join(path, 'link'))
    const directory = await open(join(path, 'link'))
    expect(directory.place).toBe(target)
    await expect(open(target)).rejects.toThrow(`(process ${process.pid}) uses it`)
    await directory.close()
  })
})

describe('what cannot be a data directory is refused', () => {
  it('when it holds other files, and nothing is put there', async () => {
    const path = temporaryDirectory()
    writeFileSync(join(path, 'package.json'), '{}')
    expect(await refusal(path)).toContain('it holds other files (package.json) and no manifest.json of a sandbox')
    expect(readdirSync(path)).toEqual(['package.json'])
  })

  it('when it is a file, below one, or where nothing can be made', async () => {
    const path = temporaryDirectory()
    const file = join(path, 'file')
    writeFileSync(file, '')
    expect(await refusal(file)).toContain('it is, or is below, a file')
    expect(await refusal(join(file, 'below', 'it'))).toContain('it is, or is below, a file')
    expect(await refusal('/proc/yield-sandbox/data')).toContain('it cannot be made there')
    expect(await refusal(join(path, 'x'.repeat(300)))).toContain('the path is too long')
  })

  it('when a manifest or journal in it is damaged or gone, and the lock is free afterwards', async () => {
    const path = join(temporaryDirectory(), 'data')
    const directory = await open(path)
    await (await directory.journal('ledger')).append(1)
    await directory.close()
    const copy = `${path}-2`
    cpSync(path, copy, { recursive: true })

    rmSync(join(path, 'ledger.journal'))
    const gone = await open(path)
    await expect(gone.journal('ledger')).rejects.toThrow(`${path}/ledger.journal: it is missing; what was acknowledged`)
    expect(existsSync(join(path, 'ledger.journal'))).toBe(false)
    await gone.close()

    writeFileSync(join(copy, 'manifest.json'), '')
    expect(await refusal(copy)).toContain(`${copy}/manifest.json: it is not JSON`)
    expect(await refusal(copy)).toContain('it is not JSON')
    rmSync(join(copy, 'manifest.json'))
    expect(await refusal(copy)).toContain('it holds other files (ledger.journal) and no manifest.json')
  })
})

it('is where it was, whatever is wrong with a journal: whoever asked for that one hears of it', async () => {
  const path = temporaryDirectory()
  const made = await open(path)
  await (await made.journal('ledger')).append({ some: 'entry' })
  await made.close()
  const file = join(path, 'ledger.journal')
  writeFileSync(file, readFileSync(file, 'utf8').replace('entry', 'ENTRY'))
  const directory = await open(path)
  await expect(directory.journal('ledger')).rejects.toThrow(DataDirectoryError)
  await directory.check()
  await directory.close().catch(() => undefined)
})
