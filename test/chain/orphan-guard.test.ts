import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { bundled, type Child, startChild } from '../data-dir/child-process.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { anvilsOf, watchdogsOf } from '../helpers/anvils.ts'
import { isAlive, processesNaming } from '../helpers/children-of.ts'
import { eventually } from '../helpers/eventually.ts'

describe('the watchdog of a process with Anvils', () => {
  // Beside the packages that it imports: Anvil's binary is looked up there.
  const scripts = mkdtempSync(fileURLToPath(new URL('../../node_modules/.orphan-test-', import.meta.url)))
  let script: string
  beforeAll(async () => {
    script = await bundled('../chain/anvil-child.ts', scripts)
  })
  afterAll(() => rmSync(scripts, { recursive: true }))

  /** Of one process and its Anvils. */
  class Parent {
    readonly files = temporaryDirectory()
    readonly #child = startChild(script, [this.files])
    readonly pid = this.#child.process.pid!

    constructor() {
      onTestFinished(() => {
        for (const pid of processesNaming(this.files)) process.kill(pid, 'SIGKILL') // left behind by a guard that is wrong
      })
    }

    async order(...orders: string[]): Promise<void> {
      for (const order of orders) expect(await this.answerTo(order)).toBe(order)
    }

    /** The next line that it prints; undefined once it has ended. */
    answerTo(order: string): Promise<string | undefined> {
      this.#child.process.stdin?.write(`${order}\n`)
      return this.line()
    }

    line(): Promise<string | undefined> {
      return this.#child.line()
    }

    loseWatchdog(): Promise<void> {
      return loseWatchdog(this.#child)
    }

    async dieAndLeaveNothing(): Promise<void> {
      await this.#child.kill()
      await eventually(() => expect(processesNaming(this.files)).toEqual([]))
      await eventually(() => expect(readdirSync(this.files)).toEqual([]))
      await eventually(() => expect(watchdogsOf(this.pid)).toEqual([]))
    }
  }

  it('ends those that run and one that starts, and removes their files, when the process is killed', async () => {
    const parent = new Parent()
    await parent.order('start', 'start', 'start', 'stop', 'begin')
    expect(processesNaming(parent.files)).toHaveLength(4) // the parent is one of them
    expect(readdirSync(parent.files)).toHaveLength(3)
    await parent.dieAndLeaveNothing()
  })

  it('removes the files of one that does not exist yet', async () => {
    const parent = new Parent()
    expect(await parent.answerTo('crash')).toBeUndefined()
    await parent.dieAndLeaveNothing()
  })

  it('is one for all, and gone when the last Anvil is', async () => {
    const parent = new Parent()
    expect(watchdogsOf(parent.pid)).toEqual([])
    await parent.order('start', 'start')
    const watchdogs = watchdogsOf(parent.pid)
    expect(watchdogs).toHaveLength(1)
    await parent.order('stop', 'start')
    expect(watchdogsOf(parent.pid)).toEqual(watchdogs)
    await parent.order('stop', 'stop')
    await eventually(() => expect(watchdogsOf(parent.pid)).toEqual([]))
    await parent.order('start', 'restart')
    expect(watchdogsOf(parent.pid)).toHaveLength(1)
    await parent.order('stop')
    await eventually(() => expect(watchdogsOf(parent.pid)).toEqual([]))
    expect(readdirSync(parent.files)).toEqual([])
  })

  it('stays while one Anvil is stopped and the next one starts', async () => {
    const parent = new Parent()
    await parent.order('start')
    const watchdogs = watchdogsOf(parent.pid)
    await parent.order('exchange', 'exchange')
    expect(watchdogsOf(parent.pid)).toEqual(watchdogs)
    expect(readdirSync(parent.files)).toHaveLength(1)
    await parent.dieAndLeaveNothing()
  })

  it('is followed by another one, for all, if somebody ends it', async () => {
    const parent = new Parent()
    await parent.order('start')
    await parent.loseWatchdog()
    await parent.order('start')
    expect(watchdogsOf(parent.pid)).toHaveLength(1)
    expect(anvilsOf(parent.pid)).toHaveLength(2)
    await parent.dieAndLeaveNothing()
  })

  it('is missed in the log if it cannot be started, and is started for all with the next Anvil', async () => {
    const parent = new Parent()
    await parent.order('hide sh')
    expect(await parent.answerTo('start')).toMatch(/^no watchdog: /)
    expect(await parent.line()).toBe('start')
    await parent.order('show sh', 'start')
    expect(watchdogsOf(parent.pid)).toHaveLength(1)
    await parent.dieAndLeaveNothing()
  })
})

describe.each([
  ['a shell', 'linux'],
  ['a script for Node, on Windows', 'win32'],
])('the watchdog as %s', (_, platform) => {
  it('removes what it is to, whatever its name, and ends no process that it is no longer to', async () => {
    const root = temporaryDirectory()
    const names = ['a  b', ' ', `'"$(touch x)\`*`, 'back\\nslash\\', 'two\nlines', '-rf', 'ä%s', 'late']
    const precious = join(root, 'precious')
    mkdirSync(precious)
    const child = startChild(await bundled('../chain/guard-child.ts', temporaryDirectory()), [
      platform,
      precious,
      ...names.map((name) => join(root, name)),
    ])
    const [outliving, ...pids] = (await child.line())?.split(' ').map(Number) ?? []
    try {
      await loseWatchdog(child)
      child.process.stdin?.write('\n')
      expect(await child.line()).toBe('ready')
      expect(pids.filter(isAlive)).toHaveLength(names.length - 2)
      expect(readdirSync(root)).toHaveLength(names.length + 1)
      await child.kill()
      await eventually(() => expect(pids.filter(isAlive)).toEqual([]))
      await eventually(() => expect(readdirSync(root)).toEqual(['precious']))
      await eventually(() => expect(watchdogsOf(child.process.pid!)).toEqual([]))
      expect(readdirSync(precious)).toEqual(['one', 'three', 'two'])
      expect(isAlive(outliving!)).toBe(true)
    } finally {
      for (const pid of [outliving!, ...pids].filter(isAlive)) process.kill(pid, 'SIGKILL')
    }
  })
})

/** Kills the watchdog; resolves when its process has been informed. */
async function loseWatchdog({ process: { pid } }: Child): Promise<void> {
  const [watchdog] = watchdogsOf(pid!)
  process.kill(watchdog!, 'SIGKILL')
  await eventually(() => expect(isAlive(watchdog!)).toBe(false))
}
