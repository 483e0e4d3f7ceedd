import { readSnapshot } from '../../src/snapshot/snapshot-content.ts'
import { checkSnapshot, type SnapshotPart, unpackSnapshot, writeSnapshot } from '../../src/snapshot/snapshot-form.ts'

/** The parts of a snapshot. */
export async function partsOf(text: string): Promise<SnapshotPart[]> {
  const parts: SnapshotPart[] = []
  for await (const { name, value } of unpackSnapshot(checkSnapshot(Buffer.from(text)))) parts.push({ name, value })
  return parts
}

/** The snapshot with parts that somebody changed, and with right checksums, as a stranger could make it. */
// biome-ignore lint/suspicious/noExplicitAny: tests change parts of every shape
export async function repacked(text: string, change: (value: any, name: string) => unknown): Promise<string> {
  const parts = await partsOf(text)
  return writeSnapshot(parts.map(({ name, value }) => ({ name, value: change(structuredClone(value), name) ?? value })))
}

/** Reads a snapshot that is text. */
export function read(text: string) {
  return readSnapshot(Buffer.from(text))
}
