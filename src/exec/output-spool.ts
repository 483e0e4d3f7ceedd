import { closeSync, createReadStream, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
    await pipeline(createReadStream('', { fd: this.descriptor, start: 0, autoClose: false }), out, { end: false })
  }

  close(): void {
    closeSync(this.descriptor)
  }
}
