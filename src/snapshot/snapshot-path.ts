import { constants } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { SnapshotError } from './snapshot-error.ts'
import { SNAPSHOT_LIMIT } from './snapshot-form.ts'

const OWNER_ONLY = 0o600

/** Reads the bytes of a snapshot's file. Throws SnapshotError that names the path. */
export async function readSnapshotFile(path: string): Promise<Buffer> {
  const unreadable = (why: string, cause?: unknown) =>
    Object.assign(
      new SnapshotError(`it cannot be read (${why})`, 'name a file that `yield-sandbox snapshot save` wrote', path),
      { cause },
    )
  // A pipe without a writer would hold up the process.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(
    (error: NodeJS.ErrnoException) => {
      throw unreadable(error.code === 'ENOENT' ? 'there is no such file' : String(error.code), error)
    },
  )
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw unreadable('it is no file')
    if (found.size > SNAPSHOT_LIMIT) throw unreadable(`it has more than ${SNAPSHOT_LIMIT / 2 ** 20} MiB`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/**
 * Runs work on the snapshot of a file, whose path its SnapshotErrors then name.
 */
export async function aboutFile<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof SnapshotError ? error.of(path) : error
  }
}

/**
 * Writes a file that only its owner may read, as a whole or not at all. Unless `force`, a file that is there is left alone.
 * @returns false if there is one
 */
export async function saveFile(path: string, text: string, { force }: { force: boolean }): Promise<boolean> {
  const temporary = `${path}.tmp`
  await rm(temporary, { force: true }) // of a process that was killed meanwhile
  try {
    const handle = await open(temporary, 'wx', OWNER_ONLY)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (force) await rename(temporary, path)
    else await link(temporary, path) // unlike a rename, it does not replace
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && !force) return false
    throw error
  } finally {
    await rm(temporary, { force: true })
  }
}
