import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { DataDirectory } from '../../src/data-dir/data-directory.ts'
import { recordedLog } from './recorded-log.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const NAMES = ['ledger', 'chain-1', 'showings'] as const
const FILES = ['manifest.json', ...NAMES.map((name) => `${name}.journal`)]

const open = (path: string) =>
  DataDirectory.open(path, { version: '0.1.0', seed: 7, fixture: 'abc', log: recordedLog() })
const contentsOf = (path: string) => FILES.map((file) => readFileSync(join(path, file)))

/** A directory with its journals, and what writes to one of its files. */
async function made() {
  const path = temporaryDirectory()
  const directory = await open(path)
  const journals = new Map<string, Awaited<ReturnType<DataDirectory['journal']>>>()
  for (const name of NAMES) journals.set(`${name}.journal`, await directory.journal(name))
  let n = 0
  const write = async (file: string, anew: boolean) => {
    n += 1
    const journal = journals.get(file)
    if (!journal) await directory.manifest.update({ clock: { offset: n, frozen_at: null } })
    else if (anew) await journal.rewrite([n])
    else await journal.append(n)
  }
  return { path, directory, write }
}

/** Tries so many random orders of writes, and so many writes to each file at once. */
export function keepsTheOrderOfWrites({ runs, writes }: { runs: number; writes: number }): void {
  it('a whole file that is older than what came after it is refused, by name; files of one moment never are', async () => {
    const step = fc.record({ file: fc.constantFrom(...FILES), anew: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), fc.nat(), async (steps, moment) => {
        const { path, directory, write } = await made()
        const kept = moment % steps.length
        for (const { file, anew } of steps.slice(0, kept)) await write(file, anew)
        const before = contentsOf(path)
        for (const { file, anew } of steps.slice(kept)) await write(file, anew)
        await directory.close()
        const after = contentsOf(path)
        for (const [i, file] of FILES.entries()) {
          for (const [j, other] of FILES.entries()) writeFileSync(join(path, other), (j === i ? before : after)[j]!)
          const lost = steps.findIndex((one, at) => at >= kept && one.file === file)
          const told = lost >= 0 && steps.slice(lost).some((one) => one.file !== file)
          const opened = await open(path).catch((error: Error) => error)
          if (told) {
            expect(opened).toMatchObject({ message: expect.stringContaining(`${path}/${file}: it is older than `) })
            expect(contentsOf(path)[i]!.equals(before[i]!)).toBe(true)
          } else {
            expect(opened).toBeInstanceOf(DataDirectory)
            await (opened as DataDirectory).close()
          }
        }
        for (const [i, file] of FILES.entries()) writeFileSync(join(path, file), before[i]!)
        await (await open(path)).close()
      }),
      { numRuns: runs },
    )
  })

  it('files that a kill leaves while all are written at once are of one moment', async () => {
    const { path, directory, write } = await made()
    const writing = FILES.map(async (file, i) => {
      for (let n = 0; n < writes; n++) await write(file, n % (7 + i) === 0)
    })
    let writers = writing.length
    for (const one of writing) void one.finally(() => writers--)
    let looks = 0
    while (writers > 0) {
      const copy = join(temporaryDirectory(), 'copy')
      for (const file of FILES) cpSync(join(path, file), join(copy, file))
      await (await open(copy)).close()
      looks += 1
    }
    expect(looks).toBeGreaterThan(5)
    await directory.close()
    expect(readdirSync(path).toSorted()).toEqual(FILES.toSorted())
  })
}
