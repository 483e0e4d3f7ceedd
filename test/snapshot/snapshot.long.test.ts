import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { SnapshotError } from '../../src/snapshot/snapshot-error.ts'
import { checkSnapshot, unpackSnapshot, writeSnapshot } from '../../src/snapshot/snapshot-form.ts'
import { saveFile } from '../../src/snapshot/snapshot-path.ts'
import { run } from '../cli/command.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { testSandbox } from '../helpers/partner.ts'

test('a changed byte anywhere, and a cut anywhere, of a real snapshot is refused', () => {
  const whole = readFileSync(join(import.meta.dirname, 'form-1.snapshot'))
  // Each check reads all of the file; of a small one, every byte is tried (snapshot-form.test.ts).
  for (let at = 0; at < whole.length; at += 7) {
    const changed = Buffer.from(whole)
    changed[at]! ^= 1 << (at % 8)
    expect(() => checkSnapshot(changed), `byte ${at}`).toThrow(SnapshotError)
    if (at % 5 === 0) expect(() => checkSnapshot(whole.subarray(0, at)), `cut at ${at}`).toThrow(SnapshotError)
  }
})

test('a part that unpacks to more than a snapshot may have is refused', async () => {
  const rest = `ledger ${brotliCompressSync(Buffer.alloc(300 * 2 ** 20, ' ')).toString('base64')}`
  const [first = ''] = (await writeSnapshot([])).split('\n')
  const line = `${crc32(rest).toString(16).padStart(8, '0')} ${rest}`
  const text = `${first}\n${line}\n`
  const bomb = Buffer.from(`${text}end ${createHash('sha256').update(text).digest('hex')}\n`)
  const unpacked = async () => {
    for await (const part of unpackSnapshot(checkSnapshot(bomb))) void part
  }
  await expect(unpacked()).rejects.toThrow('it unpacks to more than 256 MiB')
})

test('a save that cannot be finished leaves no file', async () => {
  await using sandbox = await testSandbox()
  const directory = temporaryDirectory()
  const file = join(directory, 'a.snapshot')
  const env = { YIELD_SANDBOX_URL: sandbox.baseUrl }
  const { code } = await run(['snapshot', 'save', file], { env, kilobytes: 16 })
  expect(code).not.toBe(0)
  expect(existsSync(file)).toBe(false)
  expect(await saveFile(file, 'whole', { force: false })).toBe(true)
  expect(readdirSync(directory)).toEqual(['a.snapshot'])
})
