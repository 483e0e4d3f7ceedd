import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { onTestFinished } from 'vitest'

/** A script of this folder that runs in a Node process of its own and prints lines. */
export interface Child {
  process: ChildProcess
  /** The next line it prints; undefined once it has ended. */
  line(): Promise<string | undefined>
  /** Ends it as nothing else does: at once, without a word. */
  kill(): Promise<void>
}

/** Code of the bundled scripts: they are the same for every test of a worker. */
const bundles = new Map<string, Promise<string>>()

async function bundleOf(script: string): Promise<string> {
  const bundle = await rolldown({ input: fileURLToPath(new URL(script, import.meta.url)), platform: 'node' })
  const { output } = await bundle.generate({ codeSplitting: false })
  await bundle.close()
  return output[0].code
}

/** Bundles the script into the directory and returns the file. */
export async function bundled(script: string, directory: string): Promise<string> {
  const code = bundles.get(script) ?? bundleOf(script)
  bundles.set(script, code)
  const file = join(directory, 'child.mjs')
  await writeFile(file, await code)
  return file
}

/** Starts a bundled script; `limit` is the size a file may grow to, in bytes (rounded to 512 by some shells). */
export function startChild(file: string, args: readonly string[], limit?: number): Child {
  const command = [process.execPath, file, ...args]
  const child = limit
    ? spawn('bash', ['-c', `ulimit -f ${Math.ceil(limit / 1024)} && exec "$@"`, 'bash', ...command])
    : spawn(process.execPath, command.slice(1))
  const ended = once(child, 'close')
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  child.stderr.pipe(process.stderr)
  return {
    process: child,
    line: async () => (await lines.next()).value,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
