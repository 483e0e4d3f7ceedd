import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, readdir, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SeededRandom } from '../support/random.ts'
import { DataDirectoryError, systemFailure } from './data-directory-error.ts'

/** Location of a lock's sockets: files of a folder with a common prefix. */
interface Place {
  folder: string
  prefix: string
}

/** Answer of a process with a socket. */
interface Answer {
  pid?: number
  /** True if it has the lock; false while it still looks for another holder. */
  holds: boolean
}

const SUFFIX = '.sock'
/** A socket's path may have 103 bytes on macOS, 107 on Linux. */
const LONGEST_PATH = 100
/** Error codes of file systems without sockets: FAT, some mounts into containers. */
const NO_SOCKETS = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM'])
/** Milliseconds. A process that accepts the connection and is silent for this time is busy or stopped, but alive. */
const LOCK_ANSWER_TIMEOUT_MS = 2000
const ATTEMPTS = 10
/** Error codes of places where no file, and so no lock, can be made. */
const UNWRITABLE = new Set(['EROFS', 'EACCES', 'EPERM'])
/** Characters; a longer answer is not a sandbox's. */
const LONGEST_ANSWER = 200

/**
 * The right to use a data directory: a socket on which this process listens. When the process dies in any way, the operating system
 * closes the socket, and nothing answers there any more. A process id in a file would not do, since another process may have that id by
 * then.
 */
export class DirectoryLock {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** Takes the lock of a directory, given by its real path. Throws DataDirectoryError if another process has it. */
  static async acquire(directory: string): Promise<DirectoryLock> {
    const hash = createHash('sha256').update(directory).digest('hex').slice(0, 16)
    if (process.platform === 'win32') return DirectoryLock.#acquirePipe(directory, `\\\\.\\pipe\\yield-sandbox-${hash}`)
    const elsewhere = { folder: tmpdir(), prefix: `yield-sandbox-${hash}-` }
    const inside = { folder: directory, prefix: 'lock-' }
    const acquireElsewhere = () =>
      DirectoryLock.#acquireSocket(directory, elsewhere).catch((error: unknown) => {
        throw unlockable(directory, error)
      })
    if (Buffer.byteLength(newPath(inside)) > LONGEST_PATH) return acquireElsewhere()
    return DirectoryLock.#acquireSocket(directory, inside).catch((error: NodeJS.ErrnoException) => {
      if (NO_SOCKETS.has(error.code ?? '')) return acquireElsewhere()
      throw systemFailure(directory, error)
    })
  }

  /**
   * Takes the lock for a process that only reads. Where nothing can be written (a read-only file system, a directory of another user) it
   * suffices that no process has the lock: returns undefined. Throws DataDirectoryError if another process has it.
   */
  static async acquireToRead(directory: string): Promise<DirectoryLock | undefined> {
    try {
      return await DirectoryLock.acquire(directory)
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
      if (!UNWRITABLE.has(code ?? '')) throw error
      for await (const { answer } of socketsOf({ folder: directory, prefix: 'lock-' })) {
        if (answer) throw locked(directory, answer)
      }
      return undefined
    }
  }

  /** @returns true if a file of a data directory belongs to its lock */
  static owns(name: string): boolean {
    return name.startsWith('lock-') && name.endsWith(SUFFIX)
  }

  async release(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }

  /**
   * Each process first listens, on a socket of its own name, and then looks for others: of two that come at once, at least one sees the
   * other. Only a process that finds no other takes the lock; of two that both still look, the first by name takes it.
   */
  static async #acquireSocket(directory: string, place: Place): Promise<DirectoryLock> {
    const path = newPath(place)
    const answer = { pid: process.pid, holds: false }
    const server = await listen(path, answer)
    try {
      await chmod(path, 0o600).catch(() => undefined) // removed, or on a file system without rights
      while (await othersLook(directory, place, path));
    } catch (error) {
      await new DirectoryLock(server).release()
      throw error
    }
    answer.holds = true
    if (existsSync(path)) return new DirectoryLock(server)
    // Another process took the socket for a dead one's, in the moment between its creation and the listening.
    await new DirectoryLock(server).release()
    return DirectoryLock.#acquireSocket(directory, place)
  }

  /** A named pipe ends with its process, and only one process can listen on it. */
  static async #acquirePipe(directory: string, path: string): Promise<DirectoryLock> {
    try {
      return new DirectoryLock(await listen(path, { pid: process.pid, holds: true }))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw systemFailure(directory, error)
      throw locked(directory, await ask(path))
    }
  }
}

/**
 * Looks at every other socket of the lock and removes dead ones. Throws DataDirectoryError if another process has the lock or comes
 * first.
 * @returns true if another process will give way but has not yet
 */
async function othersLook(directory: string, place: Place, own: string): Promise<boolean> {
  let looking = false
  for await (const { path, answer } of socketsOf(place, own)) {
    if (!answer) await rm(path, { force: true })
    else if (answer.holds || path < own) throw locked(directory, answer)
    else looking = true
  }
  return looking
}

/** Every other socket of the lock, with the answer there: undefined if its process is dead. */
async function* socketsOf(
  { folder, prefix }: Place,
  own?: string,
): AsyncGenerator<{ path: string; answer: Answer | undefined }> {
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries.filter(({ name }) => name.startsWith(prefix) && name.endsWith(SUFFIX))) {
    const path = join(folder, entry.name)
    // A link may lead to any socket, so it is not asked.
    if (path !== own) yield { path, answer: entry.isSocket() ? await ask(path) : undefined }
  }
}

async function listen(path: string, answer: Answer): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined) // the asking process has gone
    socket.end(JSON.stringify(answer))
  })
  server.listen(path)
  await once(server, 'listening')
  return server.unref()
}

/**
 * Returns the answer of the process behind a socket; undefined if there is none. A process that is alive and silent counts as one that
 * has the lock.
 */
async function ask(path: string): Promise<Answer | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const text = await said(path)
    if (text === 'refused') return undefined
    if (text === 'silence') break
    if (text !== '') return parsed(text)
    // It was closing while this question waited; the next question is answered, or refused.
  }
  return { holds: true }
}

/** Any other answer, too, means that a process has the lock. */
function parsed(text: string): Answer {
  try {
    const { pid, holds } = JSON.parse(text)
    return { ...(Number.isSafeInteger(pid) && { pid }), holds: holds !== false }
  } catch {
    return { holds: true }
  }
}

/** Returns the text from a socket, or `refused` if nothing listens there, or `silence` if the process sends nothing. */
function said(path: string): Promise<string | 'refused' | 'silence'> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect({ path, timeout: LOCK_ANSWER_TIMEOUT_MS })
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
      if (text.length > LONGEST_ANSWER) socket.destroy()
    })
    socket.on('timeout', () => {
      resolve('silence')
      socket.destroy()
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED' || code === 'ENOENT') resolve('refused')
      else if (code !== 'ECONNRESET' && code !== 'EPIPE') resolve('silence')
    })
    socket.on('close', () => resolve(text))
  })
}

function locked(directory: string, answer: Answer | undefined): DataDirectoryError {
  const who = answer?.pid === undefined ? 'another sandbox' : `another sandbox (process ${answer.pid})`
  return new DataDirectoryError(directory, `${who} uses it`, 'stop that one, or choose another --data-dir')
}

/** The error for a lock that cannot be made in the temporary directory. Other errors are returned unchanged. */
function unlockable(directory: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error
  const what = `its lock cannot be made in the temporary directory ${tmpdir()} (${error.message})`
  return new DataDirectoryError(
    directory,
    what,
    'see to that, or set TMPDIR to a short path that can be written',
    error,
  )
}

function newPath({ folder, prefix }: Place): string {
  return join(folder, `${prefix}${SeededRandom.secret().slice(0, 8)}${SUFFIX}`)
}
