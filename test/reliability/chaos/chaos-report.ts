import type { Kind } from './chaos-plan.ts'

/** What a run has done and seen. */
export class ChaosReport {
  readonly done = new Map<Kind, number>()
  /** Times that rules struck, by kind. */
  readonly struck = new Map<string, number>()
  readonly pairs = new Set<string>()
  readonly memory: string[] = []
  episodes = 0
  restarts = 0
  hashes = 0
  requests = 0

  /** Counts one of what was done in a row. */
  count(kind: Kind, before: Kind | undefined): void {
    this.done.set(kind, (this.done.get(kind) ?? 0) + 1)
    if (before) this.pairs.add(`${before} → ${kind}`)
  }

  lines(minutes: number): string[] {
    const counted = (counts: ReadonlyMap<string, number>) => [...counts].map(([kind, n]) => `${n} ${kind}`).join(', ')
    return [
      `${minutes.toFixed(1)} minutes, ${this.episodes} episodes, ${this.requests} requests, ${this.hashes} hashes checked`,
      `done: ${counted(this.done)}; the sandbox was started again ${this.restarts} times`,
      `struck: ${counted(this.struck)}; ${this.pairs.size} different pairs`,
      ...this.memory,
    ]
  }
}
