import { createHash, randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { schemaIssues } from '../support/schema-issues.ts'
import { isPrivate, makePrivatePlace, privatePlaces } from './private-place.ts'

const RecordSchema = Type.Object({
  /** Id of the sandbox's life, as `GET /_sandbox/health` answers it: another sandbox on the same port has another one. */
  instance: Type.String(),
  /** Address from this machine. */
  url: Type.String(),
  control_token: Type.Optional(Type.String()),
  /** Path of the certificate to trust. */
  ca_file: Type.Optional(Type.String()),
  pid: Type.Integer(),
  version: Type.String(),
  /** ISO 8601 UTC, wall-clock time. */
  started_at: Type.String(),
  /** The project's folder. */
  folder: Type.String(),
  /** Fixture file and digest of its text at the start; absent for the shipped one. */
  fixtures: Type.Optional(Type.Object({ path: Type.String(), digest: Type.String() })),
  /** Digest of the options of its start. */
  options: Type.String(),
  /** Flags of its start, without their values: `--fork-url`. */
  flags: Type.Array(Type.String()),
  /** Path of its log, if it runs in the background. */
  log: Type.Optional(Type.String()),
})

/** What is known of a sandbox that runs for a folder. */
export type SandboxRecord = Static<typeof RecordSchema>

/** Windows has no such flags. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants

/** Path of a folder's record in a place. The name tells nobody the folder. */
function pathIn(place: string, folder: string): string {
  return join(place, `${createHash('sha256').update(folder).digest('hex').slice(0, 32)}.json`)
}

/** The record of a folder; undefined if there is none that this user alone may write. */
export function readRecord(folder: string): SandboxRecord | undefined {
  for (const place of privatePlaces()) {
    const record = isPrivate(place) ? recordAt(pathIn(place, folder)) : undefined
    if (record?.folder === folder) return record
  }
  return undefined
}

function recordAt(path: string): SandboxRecord | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const { uid } = fstatSync(descriptor)
    if (uid !== (process.getuid?.() ?? uid)) return undefined
    const data: unknown = JSON.parse(readFileSync(descriptor, 'utf8'))
    return schemaIssues(RecordSchema, data).length === 0 ? (data as SandboxRecord) : undefined
  } catch {
    return undefined // none, or not one of ours
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** The record of the sandbox of that id, of any folder of this user. */
export function recordOf(instance: string): SandboxRecord | undefined {
  const files = privatePlaces().filter(isPrivate).flatMap(recordsIn)
  return files.map(recordAt).find((record) => record?.instance === instance)
}

function recordsIn(place: string): string[] {
  return readdirSync(place).flatMap((name) => (name.endsWith('.json') ? [join(place, name)] : []))
}

/** Writes the record, unless the folder has one. Returns false then, and where no place is private. */
export function writeRecord(record: SandboxRecord): boolean {
  const place = makePrivatePlace()
  if (place === undefined) return false
  const temporary = join(place, randomUUID())
  try {
    writeFileSync(temporary, JSON.stringify(record), { mode: 0o600, flag: 'wx' })
    linkSync(temporary, pathIn(place, record.folder)) // fails where there is one: of two that start at once, one is the folder's
    return true
  } catch {
    return false
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Removes the record of a sandbox; that of another one in its place stays. */
export function dropRecord({ folder, instance }: Pick<SandboxRecord, 'folder' | 'instance'>): void {
  for (const place of privatePlaces()) {
    const path = pathIn(place, folder)
    if (isPrivate(place) && recordAt(path)?.instance === instance) rmSync(path, { force: true })
  }
}

/** Path for the log of a folder's sandbox in the background; undefined where no place is private. */
export function logPathOf(folder: string): string | undefined {
  const place = makePrivatePlace()
  return place === undefined ? undefined : pathIn(place, folder).replace(/json$/, 'log')
}
