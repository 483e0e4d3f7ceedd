import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DataDirectoryError } from '../../src/data-dir/data-directory-error.ts'
import { Manifest } from '../../src/data-dir/manifest.ts'
import { NamespaceFolders } from '../../src/data-dir/namespace-folders.ts'
import { newLife } from '../../src/domain/ports/namespace-registry.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** A line that names the file, the reason and the fix. */
export const REFUSAL =
  /^\/.*\.json: (its checksum is wrong|it lacks its checksum|it is not JSON); .*Fix: .*--data-dir\.$/

/** Each copy of these bytes with one bit that is another one: every bit, or with `step` 9 one of each byte, each time the next. */
function* flipped(bytes: Buffer, step: number): Generator<Buffer> {
  for (let bit = 0; bit < bytes.length * 8; bit += step) {
    const copy = Buffer.from(bytes)
    copy[bit >> 3]! ^= 1 << (bit & 7)
    yield copy
  }
}

async function madeManifest(): Promise<string> {
  const path = join(temporaryDirectory(), 'manifest.json')
  const manifest = await Manifest.create(path, { version: '0.1.0', seed: 7, fixture: 'abc' })
  for (const name of ['ledger', 'chain-31337', 'blocks-31337', 'showings']) await manifest.addJournal(name)
  await manifest.update({ seeded: true, clock: { offset: 86_400_000, frozen_at: null } })
  return path
}

/** Flips bits of both files that are not journals, one by one. */
export function bitsAreTold(step: 1 | 9): void {
  describe('a flipped bit of what is not a journal', () => {
    it('is told from its contrary in the manifest', async () => {
      const path = await madeManifest()
      const whole = readFileSync(path)
      for (const bytes of flipped(whole, step)) {
        writeFileSync(path, bytes)
        const error = await Manifest.open(path).then(
          () => expect.fail(`opened: ${bytes}`),
          (error: Error) => error,
        )
        expect(error).toBeInstanceOf(DataDirectoryError)
        expect(error.message).toMatch(REFUSAL)
        expect(readFileSync(path).equals(bytes)).toBe(true)
      }
      writeFileSync(path, whole)
      expect((await Manifest.open(path))?.data).toMatchObject({ seed: 7, seeded: true })
    })

    it('is told from its contrary in what is kept of a namespace', async () => {
      const data = temporaryDirectory()
      const folders = new NamespaceFolders(data)
      const life = newLife('mine')
      mkdirSync(folders.of(life), { recursive: true })
      await folders.keep(life, {
        version: '0.1.0',
        created_at: '2030-01-01T00:00:00.000Z',
        seed: 7,
        clock_start: null,
        confirmation_delay: { min: 0, max: 5 },
        clients: { 'tenant-1': { slug: 'acme', client_id: 'client', client_secret: 'é' } },
        fixtures: { tenants: [{ slug: 'acme' }] },
      })
      const path = join(folders.of(life), 'namespace.json')
      const whole = readFileSync(path)
      for (const bytes of flipped(whole, step)) {
        writeFileSync(path, bytes)
        const [found] = await folders.list()
        expect(found).toMatchObject({ name: 'mine', life })
        expect(found && 'failure' in found && found.failure.message, String(bytes)).toMatch(REFUSAL)
      }
      writeFileSync(path, whole)
      expect(await folders.list()).toMatchObject([{ name: 'mine', kept: { seed: 7 } }])
    })
  })
}
