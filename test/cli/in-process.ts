import childProcess, { type SpawnOptions } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import type { Ended } from './command.ts'

/** What a command line may leave behind in its process, which ends with it elsewhere. */
const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'] as const
const STREAMS = ['stdout', 'stderr'] as const

/**
 * Runs a command of the command line in this process, to its end: for whatever does not depend on the process itself, at a third
 * of what a start costs. As in a process of its own, it sees nothing of the environment but PATH and what is given, what the
 * commands that it starts print is its output as well, and nothing of it stays. One at a time.
 */
export async function runHere(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const output = new Output()
  const undo = [output.capture(), withEnvironment({ XDG_RUNTIME_DIR: output.place, ...env }), withoutListeners()]
  const exitCode = process.exitCode
  process.exitCode = undefined
  try {
    await main([process.execPath, 'yield-sandbox', ...args])
    return { code: Number(process.exitCode ?? 0), signal: null, ...output.read() }
  } finally {
    process.exitCode = exitCode
    for (const back of undo) back()
    output.dispose()
  }
}

/** Two files, in which what is written stands in its order, whoever writes it. */
class Output {
  readonly #folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-here-'))
  readonly #files = {
    stdout: openSync(join(this.#folder, 'stdout'), 'a'),
    stderr: openSync(join(this.#folder, 'stderr'), 'a'),
  }

  /** Where the records of running sandboxes are for this command alone: no other test's sandbox is found. */
  get place(): string {
    return this.#folder
  }

  /** Until it is undone, both streams of this process, and those that a started process inherits, are these files. */
  capture(): () => void {
    const spies = STREAMS.map((stream) =>
      vi.spyOn(process[stream], 'write').mockImplementation((text, ...rest) => {
        writeSync(this.#files[stream], text as string)
        for (const done of rest) if (typeof done === 'function') (done as () => void)()
        return true
      }),
    )
    const { spawn } = childProcess
    const here = (file: string, given: readonly string[], options: SpawnOptions) =>
      spawn(file, given, { ...options, stdio: this.#redirected(options.stdio) })
    childProcess.spawn = here as typeof spawn
    syncBuiltinESMExports()
    return () => {
      childProcess.spawn = spawn
      syncBuiltinESMExports()
      for (const spy of spies) spy.mockRestore()
    }
  }

  #redirected(stdio: SpawnOptions['stdio']): SpawnOptions['stdio'] {
    const each = typeof stdio === 'string' ? [stdio, stdio, stdio] : stdio
    const own = ['ignore', this.#files.stdout, this.#files.stderr] as const
    return each?.map((one, i) =>
      one === 'inherit' ? own[i] : typeof one === 'number' ? (own[one] ?? one) : one,
    ) as SpawnOptions['stdio']
  }

  read(): Record<(typeof STREAMS)[number], string> {
    const [stdout = '', stderr = ''] = STREAMS.map((stream) => readFileSync(join(this.#folder, stream), 'utf8'))
    return { stdout, stderr }
  }

  dispose(): void {
    for (const file of Object.values(this.#files)) closeSync(file)
    rmSync(this.#folder, { recursive: true })
  }
}

/** Nothing but PATH, as for a {@link Command}. */
function withEnvironment(env: Record<string, string>): () => void {
  const own = { ...process.env }
  become({ ...(own.PATH !== undefined && { PATH: own.PATH }), ...env })
  return () => become(own)

  /** The object stays: Node asks the process itself for some variables. */
  function become(wanted: NodeJS.ProcessEnv): void {
    for (const name of Object.keys(process.env)) if (!(name in wanted)) delete process.env[name]
    Object.assign(process.env, wanted)
  }
}

/** Takes away afterwards what listens to signals, to this process's end and to its streams. */
function withoutListeners(): () => void {
  const emitters = [
    ...EVENTS.map((event) => [process, event] as const),
    ...STREAMS.map((stream) => [process[stream], 'error'] as const),
  ]
  const before = emitters.map(([emitter, event]) => new Set(emitter.rawListeners(event)))
  return () => {
    for (const [i, [emitter, event]] of emitters.entries()) {
      for (const listener of emitter.rawListeners(event)) {
        if (!before[i]!.has(listener)) emitter.off(event, listener as () => void)
      }
    }
  }
}
