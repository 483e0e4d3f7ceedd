import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Static, TObject } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Adapter } from 'lowdb'
import { damaged } from './damaged.ts'
import { PROVEN_FORMAT, refuseOtherFormats } from './directory-format.ts'
import { openPrivate, openUnchanged, replacePrivate, syncDirectory } from './private-file.ts'
import { systemFailure } from './system-failure.ts'

/** What a document must be. */
interface Shape<Schema extends TObject> {
  schema: Schema
  /** In words: "the manifest of a data directory". */
  what: string
  /** Whether it outlives a power cut from the moment it is written. */
  synced: boolean
}

type Json = Record<string, unknown>

/**
 * Where lowdb keeps a document: JSON, readable by its owner only, never through a link. It is replaced as a whole, so that it is
 * old or new if the process is killed, and it ends with a checksum of all the rest: what other hands or the disk changed is
 * refused and stays as it is.
 */
export class DocumentFile<Schema extends TObject> implements Adapter<Static<Schema>> {
  readonly #path: string
  readonly #shape: Shape<Schema>

  constructor(path: string, shape: Shape<Schema>) {
    this.#path = path
    this.#shape = shape
  }

  /** Null when there is none. Throws DataDirectoryError when it is damaged or of another format. */
  read(): Promise<Static<Schema> | null> {
    return this.#read(openPrivate)
  }

  /** As {@link read}, and leaves the file as it is, modes included. */
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

  /** All or nothing. Throws DataDirectoryError when it cannot be written. */
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

/** A document as it is written. Whatever is not, to the last blank, has another checksum. */
function bytesOf(data: Json): Buffer {
  const checksum = crc32(JSON.stringify(data)).toString(16).padStart(8, '0')
  return Buffer.from(`${JSON.stringify({ ...data, checksum }, undefined, 2)}\n`)
}
