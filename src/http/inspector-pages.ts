import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type GuardDeps, refuseForeigners } from '../control/guard.ts'

/** What a browser may do with the page: nothing but talk to its own origin, and nobody frames it. */
const STRICT = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

const PAGE = 'index.html'
/** Renders pages for files: for Node, not for browsers. */
const PAPER = 'documents.js'

const HTML = 'text/html; charset=utf-8'

/** Kinds of files of the page, by their extension. */
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': HTML,
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
}

const NOT_BUILT =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>The inspector is not built</title>' +
  '<h1>The inspector is not built</h1><p>Run <code>npm run build</code> in the folder of yield-sandbox, and load this page again. ' +
  'The sandbox itself works: see <a href="/docs">the description of the API</a>.</p></html>\n'

/** One file of the page, as it goes out. */
interface PageFile {
  type: string
  plain: Buffer
  packed: Buffer
  /** Of the content, without quotes. */
  hash: string
}

const pack = promisify(gzip)

/** Dependencies of {@link registerInspector}. */
export interface InspectorDeps extends Pick<GuardDeps, 'controlToken' | 'origin'> {
  /** Folder of the page's files, made by the build. */
  folder: URL
}

/**
 * Serves the inspector to browsers at `/`, and its files below `/inspector/`, from memory: they are read when the first browser comes. For
 * other clients nothing is served at `/`, and `refuse` answers.
 */
export function registerInspector(
  app: FastifyInstance,
  deps: InspectorDeps,
  refuse: (request: FastifyRequest) => never,
): void {
  let reading: Promise<Map<string, PageFile>> | undefined
  const files = async () => {
    reading ??= readPage(deps.folder)
    const found = await reading
    if (!found.has(PAGE)) reading = undefined // it may be built by the next time
    return found
  }
  const options = {
    schema: { hide: true },
    onRequest: async (request: FastifyRequest) => refuseForeigners(request, deps),
  }
  app.get('/', options, async (request, reply) => {
    reply.header('vary', 'Accept, Accept-Encoding')
    if (!accepts(request.headers.accept, 'text/html')) refuse(request)
    const page = (await files()).get(PAGE)
    if (page) return write(page, request, reply)
    return reply.code(404).headers(STRICT).header('cache-control', 'no-store').type(HTML).send(NOT_BUILT)
  })
  app.get<{ Params: { file: string } }>('/inspector/:file', options, async (request, reply) => {
    const { file } = request.params
    const found = file === PAGE ? undefined : (await files()).get(file)
    if (!found) return refuse(request)
    return write(found, request, reply.header('vary', 'Accept-Encoding'))
  })
}

/** Redirects a browser that opens the origin to /docs. For other clients nothing is served there, and `refuse` answers. */
export function registerDocsPage(app: FastifyInstance, refuse: (request: FastifyRequest) => never): void {
  app.get('/', { schema: { hide: true } }, (request, reply) => {
    reply.header('vary', 'Accept')
    if (!accepts(request.headers.accept, 'text/html')) refuse(request)
    return reply.redirect('/docs', 302)
  })
}

/** Returns the files in the folder by name; none if there is no such folder. */
async function readPage(folder: URL): Promise<Map<string, PageFile>> {
  const names = await readdir(folder).catch(() => [])
  const known = names.flatMap((name) => {
    if (name === PAPER) return []
    const type = TYPES[extname(name)]
    return type === undefined ? [] : [{ name, type }]
  })
  const read = known.map(async ({ name, type }): Promise<[string, PageFile]> => {
    const plain = await readFile(new URL(encodeURIComponent(name), folder))
    const hash = createHash('sha256').update(plain).digest('hex').slice(0, 32)
    return [name, { type, plain, packed: await pack(plain), hash }]
  })
  return new Map(await Promise.all(read))
}

/** Answers with a file, or with 304 if the browser has it. Another version of the sandbox may run at the same address, so browsers ask each time. */
function write(
  { type, plain, packed, hash }: PageFile,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const zipped = accepts(headers['accept-encoding'], 'gzip')
  const tag = zipped ? `"${hash}-gzip"` : `"${hash}"`
  reply.headers(STRICT).header('cache-control', 'no-cache').header('etag', tag)
  const known = headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''))
  if (known?.some((one) => one === tag || one === '*')) return reply.code(304).send()
  if (zipped) reply.header('content-encoding', 'gzip')
  return reply.type(type).send(zipped ? packed : plain)
}

/** @returns true if a field such as Accept names the word, and not with a quality of 0 */
function accepts(field: string | undefined, word: string): boolean {
  return (field ?? '').split(',').some((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    return name === word && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
