import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Exploration, TrialOutcome } from '../../src/explore/exploration.ts'
import { type Ended, ROOT } from './command.ts'
import { runHere } from './in-process.ts'

/** A partner's suite in small, as a command. */
export const SUITE = [process.execPath, join(ROOT, 'test/explore/suite.mjs')]

/** How `explore` ended, and its report. */
interface Explored extends Ended {
  exploration: (Exploration & { verdict: string }) | undefined
  outcomes: Set<TrialOutcome>
  sentences: string[]
}

/** A folder in which `explore` keeps its results and its report. */
export class ExploreFolder implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async make(): Promise<ExploreFolder> {
    return new ExploreFolder(await mkdtemp(join(tmpdir(), 'yield-sandbox-explore-')))
  }

  async explore(
    flags: readonly string[],
    command: readonly string[] = SUITE,
    env: Record<string, string> = {},
  ): Promise<Explored> {
    const report = join(this.path, 'explore.json')
    const own = ['--results', join(this.path, 'results.jsonl'), '--report', report, '--seed', '7']
    const ended = await runHere(['explore', ...own, ...flags, '--', ...command], env)
    const text = existsSync(report) ? await readFile(report, 'utf8') : undefined
    const exploration: Explored['exploration'] = text === undefined ? undefined : JSON.parse(text)
    const outcomes = new Set<TrialOutcome>(exploration?.results.map(({ outcome }) => outcome))
    const sentences = exploration?.results.flatMap((result) => result.sentences) ?? []
    return { ...ended, exploration, outcomes, sentences }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rm(this.path, { recursive: true })
  }
}
