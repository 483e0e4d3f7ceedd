import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const pack = promisify(gzip)

/** As the build measures them: packed once, sent often. 7 makes scripts shorter than 8, the default. */
const PACKING = { level: 9, memLevel: 7 }

/** Content that goes out compressed to whoever reads that, and not at all to browsers that have it. */
export class ServedFile {
  readonly #type: string
  readonly #plain: Buffer
  readonly #hash: string
  #packed: Promise<Buffer> | undefined

  /** `type` is the value of Content-Type. */
  constructor(type: string, content: Buffer | string) {
    this.#type = type
    this.#plain = Buffer.from(content)
    this.#hash = createHash('sha256').update(this.#plain).digest('hex').slice(0, 32)
  }

  /**
   * Answers with the content, or with 304. Another version of the sandbox may run at the same address, so browsers ask each time. The
   * caller says in Vary what else the content depends on.
   */
  async write({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const zipped = accepts(headers['accept-encoding'], 'gzip')
    const tag = zipped ? `"${this.#hash}-gzip"` : `"${this.#hash}"`
    if (!reply.hasHeader('vary')) reply.header('vary', 'Accept-Encoding')
    reply.header('cache-control', 'no-cache').header('etag', tag)
    const known = headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''))
    if (known?.some((one) => one === tag || one === '*')) return reply.code(304).send()
    reply.type(this.#type)
    if (!zipped) return reply.send(this.#plain)
    this.#packed ??= pack(this.#plain, PACKING)
    const packed = await this.#packed
    return reply.header('content-encoding', 'gzip').send(packed)
  }
}

/** @returns true if a field such as Accept names the word, and not with a quality of 0 */
export function accepts(field: string | undefined, word: string): boolean {
  return (field ?? '').split(',').some((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    return name === word && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
