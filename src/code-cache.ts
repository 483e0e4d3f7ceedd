import { isAscii } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { cachedDataVersionTag } from 'node:v8'
import vm from 'node:vm'
import { crc32 } from 'node:zlib'

/** A loaded file of the bundle. */
interface Chunk {
  exports: unknown
  script: vm.Script
}

/** A chunk's compiled code in the cache's file. */
interface Entry {
  name: string
  length: number
}

/** Bytes before the entries: a checksum of all that follows, and the length of the entries' JSON. */
const HEADER_BYTES = 8
const MODE = 0o644
/** What Node, too, puts around a module: on the same line, so that line numbers in a stack trace are those of the file. */
const BEFORE = Buffer.from('(function (exports, require, module, __filename, __dirname) { ')
const AFTER = Buffer.from('\n})')
const OTHERS_MAY_WRITE = 0o022

/**
 * Loads the bundle from code that V8 compiled in an earlier start, since compiling is a fifth of a start. V8 accepts no code of another
 * version, other flags or another processor, and the file's name has the id of the build. The file lies beside the code that it is made
 * of and nowhere else: anyone who may write there can change the code itself anyway.
 */
export class CodeCache {
  readonly #folder: string
  readonly #path: string | undefined
  readonly #compiled: ReadonlyMap<string, Buffer>
  readonly #chunks = new Map<string, Chunk>()
  #complete = true

  /** `folder` is that of the bundle. */
  constructor(folder: string) {
    this.#folder = folder
    const build = buildOf(folder)
    const tag = `${process.version}-${process.arch}-${cachedDataVersionTag().toString(16)}`
    this.#path = build === undefined ? undefined : join(folder, `code-${build}-${tag}.cache`)
    this.#compiled = this.#path === undefined ? new Map() : read(this.#path)
  }

  /** Loads a file of the bundle, and those that it requires, as Node would; `import()` is not supported. */
  load(name: string): unknown {
    const loaded = this.#chunks.get(name)
    if (loaded) return loaded.exports
    const filename = join(this.#folder, name)
    const cachedData = this.#compiled.get(name)
    // Joined as bytes: V8 would copy a joined text once more.
    const bytes = Buffer.concat([BEFORE, readFileSync(filename), AFTER])
    const source = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
    const script = new vm.Script(source, { filename, ...(cachedData && { cachedData }) })
    if (!cachedData || script.cachedDataRejected) this.#complete = false
    const module: Chunk = { exports: {}, script }
    this.#chunks.set(name, module) // before it runs: chunks may require each other
    const native = createRequire(filename)
    const require = (id: string) => (/^\.\/[\w-]+\.js$/.test(id) ? this.load(id.slice(2)) : native(id))
    script.runInThisContext().call(module.exports, module.exports, require, module, filename, dirname(filename))
    return module.exports
  }

  /** Writes the compiled code, with that of the cache, unless all of it came from there. Does nothing if the folder cannot be written. */
  keep(): void {
    if (this.#complete || this.#path === undefined) return
    this.#complete = true
    const compiled = new Map(this.#compiled)
    for (const [name, { script }] of this.#chunks) compiled.set(name, script.createCachedData())
    const entries = [...compiled].map(([name, { length }]): Entry => ({ name, length }))
    const index = Buffer.from(JSON.stringify(entries))
    const content = Buffer.concat([Buffer.alloc(HEADER_BYTES), index, ...compiled.values()])
    content.writeUInt32LE(index.length, 4)
    content.writeUInt32LE(crc32(content.subarray(4)), 0)
    const temporary = `${this.#path}.${process.pid}`
    try {
      writeFileSync(temporary, content, { flag: 'wx', mode: MODE })
      renameSync(temporary, this.#path)
    } catch {
      rmSync(temporary, { force: true })
    }
  }
}

/** Compiled code by chunk; empty if the file is missing, damaged, or could be another user's. */
function read(path: string): Map<string, Buffer> {
  const found = new Map<string, Buffer>()
  const content = readTrusted(path)
  if (!content || content.length < HEADER_BYTES || crc32(content.subarray(4)) !== content.readUInt32LE(0)) return found
  let at = HEADER_BYTES + content.readUInt32LE(4)
  for (const { name, length } of JSON.parse(content.toString('utf8', HEADER_BYTES, at)) as Entry[]) {
    found.set(name, content.subarray(at, at + length))
    at += length
  }
  return found
}

/** The file's content, if only this user and root can have written it. */
function readTrusted(path: string): Buffer | undefined {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    const { uid, mode } = fstatSync(file)
    const self = process.getuid?.() // undefined on Windows
    const trusted = self === undefined || ((uid === self || uid === 0) && (mode & OTHERS_MAY_WRITE) === 0)
    return trusted ? readFileSync(file) : undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** The id of the build; undefined in a folder that no build made. */
function buildOf(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, 'build-id'), 'latin1').trim()
  } catch {
    return undefined
  }
}
