import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CrashFolder, DRIVER, SERVER, WORKER } from '../explore/crash/crash-folder.ts'
import { eventually } from '../helpers/eventually.ts'
import type { Command } from './command.ts'
import { commandStarter } from './command-starter.ts'

const start = commandStarter()
let folder: CrashFolder
beforeEach(() => {
  folder = new CrashFolder()
})
afterEach(() => folder[Symbol.dispose]())

function explore(flags: readonly string[], command: readonly string[], env: Record<string, string> = {}): Command {
  const results = join(folder.path, 'results.jsonl')
  const own = ['--no-join', '--crash', '--jobs', '1', '--only', 'deposit', '--results', results]
  return start(['explore', ...own, ...flags, '--', ...command], { env: { ...folder.env, ...env } })
}

/** Interrupts it as soon as so many processes have been started, and resolves to its exit code. */
async function interruptAfter(starts: number, command: Command): Promise<number | null> {
  await eventually(() => expect(folder.starts.length).toBeGreaterThanOrEqual(starts))
  command.kill('SIGINT')
  return (await command.ended).code
}

// The worker is started three times without a kill, then twice for each kill; the server and its command are five starts, then three.
describe('Ctrl-C leaves nothing running', () => {
  test.each([1, 3, 4, 5, 6])('at start %i of a worker', async (starts) => {
    expect(await interruptAfter(starts, explore([], WORKER))).toBe(130)
    folder.expectNothingLeft()
  })

  test.each([1, 2, 5, 6, 7, 8])('at start %i of a server or the command that drives it', async (starts) => {
    const ready = 'http://127.0.0.1:$YIELD_APP_PORT/health'
    expect(await interruptAfter(starts, explore(['--app', SERVER, '--ready', ready], DRIVER))).toBe(130)
    folder.expectNothingLeft()
  })

  test('while a server is awaited that is never ready', async () => {
    expect(await interruptAfter(1, explore(['--app', SERVER, '--ready', 'false'], DRIVER))).toBe(130)
    folder.expectNothingLeft()
  })

  test('of a worker that ignores signals in its recovery, when it comes again', async () => {
    // The unharmed run is one of two commands: only what is started after a kill ignores signals.
    const recover = `AGAIN=ignores exec ${WORKER.join(' ')}`
    const command = explore(['--recover', recover, '--timeout', '5m'], WORKER)
    const has = (file: string) => eventually(() => expect(existsSync(join(folder.path, file))).toBe(true))
    await has('deaf')
    command.kill('SIGINT')
    await has('ignored')
    await eventually(() => {
      command.kill('SIGINT')
      folder.expectNothingLeft()
    })
    expect((await command.ended).code).toBe(130)
  })
})
