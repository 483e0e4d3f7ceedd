import { closeSync, createReadStream, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** What a command prints while others run beside it: kept on disk, both streams in the order they came, and shown in one piece. */
export class OutputSpool {
  /** A file without a name: whatever happens, nothing of it stays. */
  readonly descriptor: number

  constructor() {
    const directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-exec-'))
    this.descriptor = openSync(join(directory, 'output'), 'a+')
    rmSync(directory, { recursive: true })
  }

  /** Writes all of it. Call once. */
  async show(out: NodeJS.WritableStream): Promise<void> {
    // One of its own each time: a pipeline leaves its listeners on what it does not end.
    const onto = new Writable({ write: (chunk, _, done) => void out.write(chunk, done) })
    await pipeline(createReadStream('', { fd: this.descriptor, start: 0, autoClose: false }), onto)
  }

  close(): void {
    closeSync(this.descriptor)
  }
}
