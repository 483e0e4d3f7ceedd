import { closeSync, createReadStream, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import { SerialQueue } from '../support/serial-queue.ts'
import { allInOrder } from '../support/waiting.ts'
import { type Run, type RunTerms, runAgainstSandbox } from './sandbox-run.ts'

/** The same command, once for each scenario. */
export interface AllTerms extends Omit<RunTerms, 'scenario'> {
  /** None: the command is run once, without any. */
  scenarios: readonly Scenario[]
  /** How many at a time. */
  jobs: number
  /** Where what commands print is shown, when several run at a time. */
  out: NodeJS.WritableStream
  /** Told in a line what comes next. */
  say(line: string): void
}

type RunOne = (scenario: Scenario) => Promise<Run | undefined>

/**
 * Runs the command, against a fresh sandbox for each scenario. Resolves to the runs in the order of the scenarios, without those
 * that an interruption kept from beginning. Throws what kept one of the others from being run; no other begins then.
 */
export async function runAll({ scenarios, jobs, out, say, ...terms }: AllTerms): Promise<Run[]> {
  const [first, ...others] = scenarios
  if (others.length > 0) return inTurns(scenarios, jobs, jobs === 1 ? runLive : beside())
  const run = await runAgainstSandbox({ ...terms, scenario: first }, 'inherit')
  return run ? [run] : []

  /** Nobody else prints meanwhile. */
  async function runLive(scenario: Scenario): Promise<Run | undefined> {
    say(`scenario ${scenario.name}`)
    return runAgainstSandbox({ ...terms, scenario }, ['ignore', 'inherit', 'inherit'])
  }

  /** What each prints is kept together, and shown when it has ended. */
  function beside(): RunOne {
    const shown = new SerialQueue()
    return async (scenario) => {
      const spool = new OutputSpool()
      try {
        const run = await runAgainstSandbox({ ...terms, scenario }, ['ignore', spool.descriptor, spool.descriptor])
        await shown.run(async () => {
          say(`scenario ${scenario.name}`)
          await spool.show(out)
        })
        return run
      } finally {
        spool.close()
      }
    }
  }
}

/** Runs so many at a time; those whose turn comes first begin first. */
async function inTurns(scenarios: readonly Scenario[], width: number, runOne: RunOne): Promise<Run[]> {
  const waiting = [...scenarios.entries()]
  const runs: (Run | undefined)[] = []
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [i, scenario] = next
      try {
        runs[i] = await runOne(scenario)
      } catch (error) {
        waiting.length = 0
        throw error
      }
    }
  }
  await allInOrder(Array.from({ length: Math.min(width, scenarios.length) }, work))
  return runs.filter((run) => run !== undefined)
}

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
