import { expect } from 'vitest'
import { bundled, startChild } from '../data-dir/child-process.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import type { Postgres } from '../helpers/postgres.ts'
import { ownConnection, storedEntries } from './rows.ts'
import { openRegistry, openStorage } from './workbench.ts'

/** Milliseconds: short, so that a process that stands still loses its namespace soon. */
const LEASE_MS = 300

/**
 * Stops a process that writes to a namespace and answers from it, lets another one take it and write, and lets the first go on; so many
 * times. The first must write and answer nothing any more, and every entry that was acknowledged must be there, once and in order.
 */
export async function stopAndGo(server: Postgres, rounds: number): Promise<void> {
  const script = await bundled('../database/owner-child.ts', temporaryDirectory())
  const client = await ownConnection(server.url())
  const acknowledged: number[] = []
  for (let round = 0; round < rounds; round++) {
    const first = (round + 1) * 1_000_000
    const child = startChild(script, [server.url(), String(LEASE_MS), String(first)])
    const lines: string[] = []
    for (let line = await child.line(); line !== undefined; line = await child.line()) {
      lines.push(line)
      if (lines.length > 100 && line.startsWith('kept')) break
    }
    child.process.kill('SIGSTOP')
    const registry = await openRegistry(server.url())
    const storage = await openStorage(registry, 'moving')
    const journal = await storage.journal<number>('ledger')
    const takenAt = Date.now()
    await journal.append(first - 1)
    child.process.kill('SIGCONT')
    for (let line = await child.line(); line !== undefined; line = await child.line()) lines.push(line)
    expect(lines.at(-1)).toBe('lost')
    const reads = lines.filter((line) => line.startsWith('read')).map((line) => Number(line.split(' ')[1]))
    expect(reads.length).toBeGreaterThan(0)
    expect(reads.filter((at) => at > takenAt)).toEqual([])
    await journal.append(first - 2)
    acknowledged.push(...lines.filter((line) => line.startsWith('kept')).map((line) => Number(line.split(' ')[1])))
    acknowledged.push(first - 1, first - 2)
    await storage.close()
    await registry.close()
  }
  const stored = await storedEntries(client, 'moving')
  const epochs = stored.map(({ epoch }) => epoch)
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b)) // nothing of an owner stands behind what its successor wrote
  const values = stored.map(({ value }) => value as number)
  expect(new Set(values).size).toBe(values.length)
  // The last entry of an owner may be stored although it was stopped before it knew.
  const known = new Set(acknowledged)
  expect(values.filter((value) => known.has(value))).toEqual(acknowledged)
  expect(values.length - acknowledged.length).toBeLessThanOrEqual(rounds)
}
