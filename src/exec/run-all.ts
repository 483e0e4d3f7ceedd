import { closeSync, createReadStream, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import { SerialQueue } from '../support/serial-queue.ts'
import { allInOrder } from '../support/waiting.ts'
import { type Run, type RunTerms, runAgainstSandbox } from './sandbox-run.ts'

/** Options of running one command once for each scenario. */
export interface AllTerms extends Omit<RunTerms, 'scenario'> {
  /** Empty: the command is run once, without a scenario. */
  scenarios: readonly Scenario[]
  /** Number of runs at a time. */
  jobs: number
  /** Stream that shows the commands' standard output; of several that run at a time, both streams. */
  out: OutputStream
  /** Reports in a line what comes next. */
  say(line: string): void
  /** Called while several run at a time, whenever one has begun or ended; never between the lines of a command. */
  progress?(done: number, all: number): void
}

/** A stream of this process. */
export type OutputStream = NodeJS.WritableStream & {
  /** Its descriptor: the command's own. */
  fd: number
}

type RunOne = (scenario: Scenario) => Promise<Run | undefined>

/**
 * Runs the command against a fresh sandbox for each scenario. Resolves to the runs in the order of the scenarios, without those
 * that an interruption kept from beginning. When one of the others cannot be run, throws its error and starts no more.
 */
export async function runAll({ scenarios, jobs, out, say, progress, ...terms }: AllTerms): Promise<Run[]> {
  const [first, ...others] = scenarios
  if (others.length > 0) return inTurns(scenarios, jobs, jobs === 1 ? runLive : beside())
  const run = await runAgainstSandbox({ ...terms, scenario: first }, ['inherit', out.fd, 'inherit'])
  return run ? [run] : []

  /** Shows the output at once: no other command prints meanwhile. */
  async function runLive(scenario: Scenario): Promise<Run | undefined> {
    say(`scenario ${scenario.name}`)
    return runAgainstSandbox({ ...terms, scenario }, ['ignore', out.fd, 'inherit'])
  }

  /** Keeps the output of each command together and shows it at its end. */
  function beside(): RunOne {
    const shown = new SerialQueue()
    let done = 0
    const report = () => progress?.(done, scenarios.length)
    return async (scenario) => {
      const spool = new OutputSpool()
      try {
        void shown.run(async () => report())
        const run = await runAgainstSandbox({ ...terms, scenario }, ['ignore', spool.descriptor, spool.descriptor])
        await shown.run(async () => {
          say(`scenario ${scenario.name}`)
          await spool.show(out)
          done++
          report()
        })
        return run
      } finally {
        spool.close()
      }
    }
  }
}

/** Runs at most `width` at a time, started in order. */
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

/** Output of a command that runs beside others: kept on disk, both streams in the order they came, and shown in one piece. */
export class OutputSpool {
  /** Descriptor of a file that has already been removed from its folder: it vanishes with this process, whatever happens. */
  readonly descriptor: number

  constructor() {
    const directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-exec-'))
    this.descriptor = openSync(join(directory, 'output'), 'a+')
    rmSync(directory, { recursive: true })
  }

  /** Writes the whole output. Call once. */
  async show(out: NodeJS.WritableStream): Promise<void> {
    // A new stream each time: a pipeline leaves its listeners on a stream that it does not end.
    const onto = new Writable({ write: (chunk, _, done) => void out.write(chunk, done) })
    await pipeline(createReadStream('', { fd: this.descriptor, start: 0, autoClose: false }), onto)
  }

  close(): void {
    closeSync(this.descriptor)
  }
}
