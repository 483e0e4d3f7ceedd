import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { ServedFile } from './served-file.ts'

/** What a browser may do with a page: nothing but talk to its own origin, and nobody frames it. */
export const STRICT = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** The file that is the page itself. */
export const PAGE = 'index.html'
/** Renders pages for files: for Node, not for browsers. */
const PAPER = 'documents.js'

export const HTML = 'text/html; charset=utf-8'

/** Kinds of files of a page, by their extension. */
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': HTML,
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
}

/** A folder with the files of a page, made by the build. They are read when the first browser comes, and served from memory. */
export class PageFolder {
  readonly #folder: URL
  #reading: Promise<Map<string, ServedFile>> | undefined

  constructor(folder: URL) {
    this.#folder = folder
  }

  /** Resolves with the file of this name; undefined if there is none. */
  async file(name: string): Promise<ServedFile | undefined> {
    this.#reading ??= readFolder(this.#folder)
    const files = await this.#reading
    if (!files.has(PAGE)) this.#reading = undefined // it may be built by the next time
    return files.get(name)
  }
}

/** Returns the files in the folder by name; none if there is no such folder. */
async function readFolder(folder: URL): Promise<Map<string, ServedFile>> {
  const names = await readdir(folder).catch(() => [])
  const known = names.flatMap((name) => {
    if (name === PAPER) return []
    const type = TYPES[extname(name)]
    return type === undefined ? [] : [{ name, type }]
  })
  const read = known.map(async ({ name, type }): Promise<[string, ServedFile]> => {
    return [name, new ServedFile(type, await readFile(new URL(encodeURIComponent(name), folder)))]
  })
  return new Map(await Promise.all(read))
}
