import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Credentials } from '../../src/index.ts'

/** The package's folder; the command line runs from what `npm run build` made of it. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** How a command ended. */
export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** What a command runs in. */
interface CommandOptions {
  /** All it sees of the environment, beside the PATH. */
  env?: Record<string, string>
  root?: string
  /** No file it writes may grow beyond so many. */
  kilobytes?: number
}

/** A running command line. */
export class Command {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''

  constructor(args: readonly string[], { env = {}, root = ROOT, kilobytes }: CommandOptions = {}) {
    // Of its own, so that no command finds the sandbox of another test, which has the same folder.
    const place = mkdtempSync(join(tmpdir(), 'yield-sandbox-place-'))
    const command = [process.execPath, 'bin/yield-sandbox.js', ...args]
    const limited = ['/bin/sh', '-c', `ulimit -f ${kilobytes}; exec "$@"`, 'sh', ...command]
    const [file = '', ...rest] = kilobytes === undefined ? command : limited
    this.child = spawn(file, rest, {
      cwd: root,
      env: { PATH: process.env.PATH, XDG_RUNTIME_DIR: place, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk
    })
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk
    })
    this.ended = once(this.child, 'close').then(([code, signal]) => {
      rmSync(place, { recursive: true, force: true })
      return { code, signal, stdout: this.stdout, stderr: this.stderr }
    })
  }

  /** Resolves when standard output holds the pattern; rejects when the command ends before. */
  async prints(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.stdout)
      if (found) return found[0]
      const more = once(this.child.stdout!, 'data').then(() => true)
      if (await Promise.race([more, this.ended.then(() => false)])) continue
      if (!pattern.test(this.stdout)) throw new Error(`it ended without ${pattern}: ${this.stdout}${this.stderr}`)
    }
  }

  /** The line that `--json` prints. */
  async credentials(): Promise<Credentials> {
    return JSON.parse(await this.prints(/^\{.*\}\n/))
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }
}

/** Runs a command to its end. */
export function run(args: readonly string[], options?: ConstructorParameters<typeof Command>[1]): Promise<Ended> {
  return new Command(args, options).ended
}

/** Whether anything answers at the RPC address. */
export async function answers(url: string): Promise<boolean> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
  const asked = fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return asked.then(
    () => true,
    () => false,
  )
}
