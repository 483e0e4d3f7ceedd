import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { DataDirectoryError, systemFailure } from './data-directory-error.ts'

/** The seed is the key of every wallet, and the ledger holds secrets: nobody else may read, whoever made the directory. */
const OWNER_ONLY = 0o600
const OTHERS = 0o077
/** Windows has no such flags. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR, O_RDONLY } = constants

/**
 * Opens a file to read and write; undefined when there is none. Others may read it no longer. Throws DataDirectoryError when
 * it is a symbolic link, which others may have put there, or no file at all.
 */
export async function openPrivate(path: string): Promise<FileHandle | undefined> {
  const handle = await openFile(path, O_RDWR)
  // Another owner's files, and file systems without rights, stay as they are.
  if (handle && ((await handle.stat()).mode & OTHERS) !== 0) await handle.chmod(OWNER_ONLY).catch(() => undefined)
  return handle
}

/** Opens a file to read it and to leave it as it is, also on a file system that is read-only. As {@link openPrivate} otherwise. */
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
 * Puts a file that only its owner may read in the place of the one at the path, or fails and leaves that one as it is.
 * Returns its handle, to be closed by the caller.
 */
export async function replacePrivate(path: string, write: (handle: FileHandle) => Promise<void>): Promise<FileHandle> {
  await removeTemporary(path)
  const temporary = temporaryOf(path)
  const handle = await open(temporary, 'wx+', OWNER_ONLY) // which follows no link
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

/** Writes so many bytes beside a path, and takes them away again. */
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

/** Has the disk itself know what files are in a directory. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return // which cannot be asked for it
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

/** Removes what a process left that was killed while it replaced the file. */
export function removeTemporary(path: string): Promise<void> {
  return rm(temporaryOf(path), { force: true })
}

/** Where a file is written before it takes its place. */
export function temporaryOf(path: string): string {
  return `${path}.tmp`
}

function unexpected(path: string, what: string): DataDirectoryError {
  return new DataDirectoryError(path, what, 'put the file itself there, or choose another --data-dir')
}

/** Whether what is in use is still where it was found: what is written to a file that was removed is gone with the process. */
export class Presence {
  readonly #path: string
  readonly #identity: string

  private constructor(path: string, identity: string) {
    this.#path = path
    this.#identity = identity
  }

  /** Of what is at the path now, or of the file that was opened there. */
  static async of(path: string, handle?: FileHandle): Promise<Presence> {
    return new Presence(path, identityOf(await (handle ? handle.stat(EXACT) : stat(path, EXACT))))
  }

  /** Throws DataDirectoryError when it was removed, moved or replaced. */
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

/** Numbers of files may be beyond what a number can hold. */
const EXACT = { bigint: true } as const

function identityOf({ dev, ino }: { dev: bigint; ino: bigint }): string {
  return `${dev} ${ino}`
}
