import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Static, TObject } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Adapter } from 'lowdb'
import { DataDirectoryError, damaged, systemFailure } from './data-directory-error.ts'
import { openPrivate, openUnchanged, replacePrivate, syncDirectory } from './private-file.ts'

/** Requirements of a document. */
interface Shape<Schema extends TObject> {
  schema: Schema
  /** In words: "the manifest of a data directory". */
  what: string
  /** True if it must outlive a power cut from the moment it is written. */
  synced: boolean
}

type Json = Record<string, unknown>

/**
 * lowdb's storage of a document: JSON, readable by its owner only, never through a link. It is replaced as a whole, so that after a
 * kill it is either old or new, and it ends with a checksum of the rest: a file that was edited by hand, or damaged by the disk, is
 * refused and left unchanged.
 */
export class DocumentFile<Schema extends TObject> implements Adapter<Static<Schema>> {
  readonly #path: string
  readonly #shape: Shape<Schema>

  constructor(path: string, shape: Shape<Schema>) {
    this.#path = path
    this.#shape = shape
  }

  /** Null if there is none. Throws DataDirectoryError if it is damaged or of another format. */
  read(): Promise<Static<Schema> | null> {
    return this.#read(openPrivate)
  }

  /** As {@link read}, but does not change the file, not even its mode. */
  peek(): Promise<Static<Schema> | null> {
    return this.#read(openUnchanged)
  }

  async #read(open: typeof openPrivate): Promise<Static<Schema> | null> {
    try {
      const handle = await open(this.#path)
      const bytes = await handle?.readFile().finally(() => handle.close())
      return bytes === undefined ? null : this.#checked(bytes)
    } catch (error) {
      throw error instanceof SyntaxError ? damaged(this.#path, 'it is not JSON') : systemFailure(this.#path, error)
    }
  }

  /** Writes all or nothing. Throws DataDirectoryError if it cannot be written. */
  async write(data: Static<Schema>): Promise<void> {
    try {
      const handle = await replacePrivate(this.#path, async (file) => {
        await file.writeFile(bytesOf(data as Json))
        if (this.#shape.synced) await file.sync()
      })
      await handle.close()
      if (this.#shape.synced) await syncDirectory(dirname(this.#path))
    } catch (error) {
      throw systemFailure(this.#path, error)
    }
  }

  #checked(bytes: Buffer): Static<Schema> {
    const parsed: unknown = JSON.parse(bytes.toString())
    const { checksum, ...data }: Json = parsed instanceof Object ? { ...parsed } : {}
    if (checksum !== undefined && !bytesOf(data).equals(bytes)) throw damaged(this.#path, 'its checksum is wrong')
    refuseOtherFormats(this.#path, data)
    if (checksum === undefined && Number(data.format) >= PROVEN_FORMAT)
      throw damaged(this.#path, 'it lacks its checksum')
    const { schema, what } = this.#shape
    if (Value.Check(schema, data)) return data
    const first = Value.Errors(schema, data).First()
    throw damaged(this.#path, `it is not ${what} (${first?.path || 'as a whole'}: ${first?.message})`)
  }
}

/** The bytes of a document as written. A file that differs in any byte, even a blank, has another checksum. */
function bytesOf(data: Json): Buffer {
  const checksum = crc32(JSON.stringify(data)).toString(16).padStart(8, '0')
  return Buffer.from(`${JSON.stringify({ ...data, checksum }, undefined, 2)}\n`)
}

/**
 * First release of each readable format of a whole data directory. The format is raised when an older version would misread any file,
 * in a release of its own, so that an error can name the release to start; the step that reads the previous format stays. 3: the
 * ledger's journal may hold segments of packed records. 4: documents carry a checksum, every file the order of writes, and folders of
 * namespaces are named after their lives.
 */
export const RELEASES: Readonly<Record<number, string>> = { 2: '0.1.0', 3: '0.1.0', 4: '0.2.0' }
/** The format that is written; the first change of a directory raises its format to this. */
export const FORMAT = 4
const OLDEST_FORMAT = 2
/** First format whose documents carry a checksum. */
export const PROVEN_FORMAT = 4

/** Throws DataDirectoryError if this version does not read the document's format. */
export function refuseOtherFormats(path: string, { format, version }: { format?: unknown; version?: unknown }): void {
  if (typeof format !== 'number' || !Number.isInteger(format)) return
  if (format >= OLDEST_FORMAT && format <= FORMAT) return
  const read = `${OLDEST_FORMAT} (since ${RELEASES[OLDEST_FORMAT]}) to ${FORMAT} (since ${RELEASES[FORMAT]})`
  const what = `it is of format ${format}, written by version ${version}, and this version reads formats ${read}`
  throw new DataDirectoryError(path, what, 'start the version that wrote it, or start with another --data-dir')
}
