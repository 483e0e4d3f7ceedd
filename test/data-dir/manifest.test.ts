import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DataDirectoryError } from '../../src/data-dir/data-directory-error.ts'
import { Manifest } from '../../src/data-dir/manifest.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const FIRST = { version: '0.1.0', seed: 7, fixture: 'abc' }

/** Why a manifest of these contents is refused; they must still be there afterwards. */
async function refusal(contents: string | object): Promise<string> {
  const path = join(temporaryDirectory(), 'manifest.json')
  const text = typeof contents === 'string' ? contents : JSON.stringify(contents)
  writeFileSync(path, text)
  const error = await Manifest.open(path).then(
    () => expect.fail('it was opened'),
    (error: Error) => error,
  )
  expect(error).toBeInstanceOf(DataDirectoryError)
  expect(error.message).toMatch(/^\/.*manifest\.json: .*Fix: .*--data-dir\.$/)
  expect(readFileSync(path, 'utf8')).toBe(text)
  return error.message
}

describe('the manifest', () => {
  it('is read as it was last changed', async () => {
    const path = join(temporaryDirectory(), 'manifest.json')
    expect(await Manifest.open(path)).toBeUndefined()
    const manifest = await Manifest.create(path, FIRST)
    await Promise.all([
      manifest.update({ runs: 1 }),
      manifest.addJournal('ledger'),
      manifest.addJournal('chain-1'),
      manifest.update({ clock: { offset: 5, frozen_at: 12.5 } }),
      manifest.update({ seeded: true }),
    ])
    const expected = {
      ...FIRST,
      format: 4,
      runs: 1,
      clock: { offset: 5, frozen_at: 12.5 },
      seeded: true,
      clean: true,
      journals: ['ledger', 'chain-1'],
    }
    expect(manifest.data).toMatchObject(expected)
    expect((await Manifest.open(path))?.data).toEqual(manifest.data)
  })

  it('is readable by its owner only', async () => {
    const path = join(temporaryDirectory(), 'manifest.json')
    const manifest = await Manifest.create(path, FIRST)
    await manifest.update({ runs: 1 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('says what is wrong when it cannot be written, and stays as it was', async () => {
    const path = join(temporaryDirectory(), 'gone', 'manifest.json')
    await expect(Manifest.create(path, FIRST)).rejects.toThrow(`${path}: it cannot be made there. Fix: `)
  })

  it('is refused when it is damaged', async () => {
    const path = join(temporaryDirectory(), 'manifest.json')
    await Manifest.create(path, FIRST)
    const whole = readFileSync(path, 'utf8')
    for (let length = 0; length < whole.trimEnd().length; length += 3) {
      expect(await refusal(whole.slice(0, length))).toContain('it is not JSON')
    }
    expect(await refusal(whole.replace('"seed": 7', '"seed": 8'))).toContain('its checksum is wrong')
    const { checksum, ...data } = JSON.parse(whole)
    expect(checksum).toMatch(/^[0-9a-f]{8}$/)
    expect(await refusal(data)).toContain('it lacks its checksum')
    const older = { ...data, format: 3 }
    expect(await refusal({ ...older, seed: 'seven' })).toContain('/seed')
    expect(await refusal({ ...older, runs: -1 })).toContain('/runs')
    for (const foreign of [{}, { name: 'a-web-app' }, [], 'null', '5', { format: 'x' }]) {
      expect(await refusal(foreign)).toContain('it is not the manifest of a data directory')
    }
  })

  it('of another format is refused by name', async () => {
    const message = await refusal({ format: 5, version: '3.1.4' })
    expect(message).toContain(
      'it is of format 5, written by version 3.1.4, and this version reads formats 2 (since 0.1.0) to 4 (since 0.2.0)',
    )
    expect(message).toContain('start the version that wrote it')
    expect(await refusal({ format: 1, version: '0.0.1' })).toContain('it is of format 1')
  })

  it('of format 2 is read as it is, and raised before anything is written', async () => {
    const path = join(temporaryDirectory(), 'manifest.json')
    await Manifest.create(path, FIRST)
    const { checksum: _, ...data } = JSON.parse(readFileSync(path, 'utf8'))
    const older = JSON.stringify({ ...data, format: 2 })
    for (const write of [
      (manifest: Manifest) => manifest.raiseFormat(),
      (manifest: Manifest) => manifest.update({ runs: 1 }),
    ]) {
      writeFileSync(path, older)
      const manifest = await Manifest.open(path)
      expect(readFileSync(path, 'utf8')).toBe(older)
      await write(manifest!)
      expect((await Manifest.open(path))?.data).toMatchObject({ ...FIRST, format: 4 })
    }
  })
})
