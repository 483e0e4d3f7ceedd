import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { DataDirectoryError, systemFailure } from './data-directory-error.ts'

/** The seed gives the key of every wallet, and the ledger holds secrets: no other user may read the files, in any directory. */
const OWNER_ONLY = 0o600
const OTHERS = 0o077
/** Windows has no such flags. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR, O_RDONLY } = constants

/**
 * Opens a file to read and write; undefined if there is none. Removes the rights of other users. Throws DataDirectoryError if it is a
 * symbolic link, which others may have put there, or not a regular file.
 */
export async function openPrivate(path: string): Promise<FileHandle | undefined> {
  const handle = await openFile(path, O_RDWR)
  // Files of another owner, and file systems without rights, stay as they are.
  if (handle && ((await handle.stat()).mode & OTHERS) !== 0) await handle.chmod(OWNER_ONLY).catch(() => undefined)
  return handle
}

/** Opens a file to read it without any change, also on a read-only file system. Otherwise as {@link openPrivate}. */
export function openUnchanged(path: string): Promise<FileHandle | undefined> {
  return openFile(path, O_RDONLY)
}

async function openFile(path: string, how: number): Promise<FileHandle | undefined> {
  const handle = await open(path, how | O_NOFOLLOW | O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error.code === 'ELOOP' ? unexpected(path, 'it is a symbolic link') : error
  })
  if (!handle || (await handle.stat()).isFile()) return handle
  await handle.close()
  throw unexpected(path, 'it is no file')
}

/**
 * Replaces the file at the path by one that only its owner may read, or fails and leaves the old one. Returns its handle, which the
 * caller must close.
 */
export async function replacePrivate(path: string, write: (handle: FileHandle) => Promise<void>): Promise<FileHandle> {
  await removeTemporary(path)
  const temporary = temporaryOf(path)
  const handle = await open(temporary, 'wx+', OWNER_ONLY) // wx+ does not follow links
  try {
    await write(handle)
    await rename(temporary, path)
    return handle
  } catch (error) {
    await handle.close()
    await removeTemporary(path)
    throw error
  }
}

/** Writes this number of bytes beside a path, and removes them again. */
export async function probeRoom(path: string, bytes: number): Promise<void> {
  await removeTemporary(path)
  const handle = await open(temporaryOf(path), 'wx', OWNER_ONLY)
  try {
    await handle.writeFile(Buffer.alloc(bytes))
  } finally {
    await handle.close()
    await removeTemporary(path)
  }
}

/** Flushes the list of a directory's files to the disk. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return // Windows cannot flush a directory
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

/** Removes the temporary file of a process that was killed while it replaced the file. */
export function removeTemporary(path: string): Promise<void> {
  return rm(temporaryOf(path), { force: true })
}

/** Path at which a file is written before it takes its place. */
export function temporaryOf(path: string): string {
  return `${path}.tmp`
}

function unexpected(path: string, what: string): DataDirectoryError {
  return new DataDirectoryError(path, what, 'put the file itself there, or choose another --data-dir')
}

/** Checks that a file or directory in use is still at its path: data written to a removed file would be lost with the process. */
export class Presence {
  readonly #path: string
  readonly #identity: string

  private constructor(path: string, identity: string) {
    this.#path = path
    this.#identity = identity
  }

  /** Remembers the file that was opened, or the one that is at the path now. */
  static async of(path: string, handle?: FileHandle): Promise<Presence> {
    return new Presence(path, identityOf(await (handle ? handle.stat(EXACT) : stat(path, EXACT))))
  }

  /** Throws DataDirectoryError if it was removed, moved or replaced. */
  async check(): Promise<void> {
    const found = await stat(this.#path, EXACT).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw systemFailure(this.#path, error)
    })
    if (found && identityOf(found) === this.#identity) return
    const what = `it was ${found ? 'replaced' : 'removed or renamed'} while it was in use`
    const fix = 'put it back where it was, or stop the sandbox and start it with the --data-dir that it is to use'
    throw new DataDirectoryError(this.#path, what, fix)
  }
}

/** File numbers may exceed the exact range of a number. */
const EXACT = { bigint: true } as const

function identityOf({ dev, ino }: { dev: bigint; ino: bigint }): string {
  return `${dev} ${ino}`
}
