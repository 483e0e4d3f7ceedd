import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system of a few megabytes for the tables of a PostgreSQL server, which a test can fill. Only root can mount one. */
export class SmallDisk {
  readonly path: string
  readonly #ballast: string

  private constructor(path: string) {
    this.path = path
    this.#ballast = join(path, 'ballast')
  }

  /** Undefined if this user, or this machine, may not mount one. */
  static mount(megabytes: number): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'yield-sandbox-disk-'))
    const ran = (command: string, ...args: string[]) => spawnSync(command, args).status === 0
    if (ran('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path)) {
      const disk = new SmallDisk(path)
      if (ran('chown', 'postgres:postgres', path)) return disk
      disk.unmount()
    } else rmSync(path, { recursive: true })
    return undefined
  }

  /** Leaves no room. */
  fill(): void {
    const { blocks, bsize } = statfsSync(this.path)
    try {
      writeFileSync(this.#ballast, Buffer.alloc(blocks * bsize)) // more than there is: others write as well
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }

  makeRoom(): void {
    rmSync(this.#ballast)
  }

  unmount(): void {
    spawnSync('umount', [this.path])
    rmSync(this.path, { recursive: true })
  }
}
