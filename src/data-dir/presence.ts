import { type FileHandle, stat } from 'node:fs/promises'
import { DataDirectoryError } from './data-directory-error.ts'
import { systemFailure } from './system-failure.ts'

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
