import { STATUS_CODES } from 'node:http'
import { headerOf } from './headers.ts'
import type { RecordedExchange } from './recorded-exchange.ts'

/** HTTP Archive 1.2 (http://www.softwareishard.com/blog/har-12-spec/). The sandbox's own members begin with `_`, as it requires. */
export interface Har {
  log: {
    version: '1.2'
    creator: { name: string; version: string }
    /** Empty, since no browser was involved; importers require the list. */
    pages: []
    /** Oldest first. */
    entries: HarEntry[]
  }
}

interface HarPair {
  name: string
  value: string
}

/** One exchange in an archive. */
export interface HarEntry {
  startedDateTime: string
  /** Milliseconds, as all of `timings`. */
  time: number
  request: {
    method: string
    url: string
    httpVersion: string
    cookies: []
    headers: HarPair[]
    queryString: HarPair[]
    postData?: { mimeType: string; text: string; comment?: string }
    headersSize: -1
    bodySize: number
  }
  response: {
    /** 0 when the client got no answer. */
    status: number
    statusText: string
    httpVersion: string
    cookies: []
    headers: HarPair[]
    content: { size: number; mimeType: string; text?: string; comment?: string }
    redirectURL: ''
    headersSize: -1
    bodySize: number
    /** Reason for the missing answer. */
    _error?: string
  }
  cache: Record<string, never>
  timings: { send: 0; wait: number; receive: 0 }
  connection: string
  /** Facts that HAR has no place for; `response` is the answer that would have been sent. */
  _sandbox: Omit<RecordedExchange, 'request' | 'connection' | 'took_ms'> &
    Pick<RecordedExchange['request'], 'idp_token' | 'user_token' | 'client_id'>
}

/** Version of the sandbox that writes an archive, and origin of its service. */
export interface HarMaker {
  version: string
  /** The origin of the sandbox: recorded paths are below it. */
  baseUrl: string
}

/** Turns exchanges, given newest first, into an archive that browsers' developer tools load. */
export function harOf(newestFirst: readonly RecordedExchange[], { version, baseUrl }: HarMaker): Har {
  const entries = newestFirst.toReversed().map((exchange) => entryOf(exchange, baseUrl))
  return { log: { version: '1.2', creator: { name: 'yield-sandbox', version }, pages: [], entries } }
}

/** The text of such an archive in pieces, so that its sender holds only one exchange at a time. */
export async function* harPieces(
  oldestFirst: AsyncIterable<RecordedExchange>,
  maker: HarMaker,
): AsyncGenerator<string> {
  const empty = JSON.stringify(harOf([], maker))
  const end = empty.lastIndexOf(']')
  yield empty.slice(0, end)
  let separator = ''
  for await (const exchange of oldestFirst) {
    yield `${separator}${JSON.stringify(entryOf(exchange, maker.baseUrl))}`
    separator = ','
  }
  yield empty.slice(end)
}

function entryOf(exchange: RecordedExchange, baseUrl: string): HarEntry {
  const { request, connection, took_ms, ...rest } = exchange
  const { idp_token, user_token, client_id } = request
  return {
    startedDateTime: exchange.began.wall,
    time: took_ms,
    request: requestOf(request, baseUrl),
    response: exchange.end === 'answered' && exchange.response ? answered(exchange.response) : unanswered(exchange),
    cache: {},
    timings: { send: 0, wait: took_ms, receive: 0 },
    connection: String(connection),
    _sandbox: { ...rest, idp_token, user_token, client_id },
  }
}

const HTTP = 'HTTP/1.1'

/** Characters that a URL may not contain unencoded (RFC 3986). */
const NOT_IN_URLS = /[^!#-;=?-[\]_a-z~]/gu

function percentEncoded(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

function requestOf(request: RecordedExchange['request'], baseUrl: string): HarEntry['request'] {
  const { method, path, query, headers, body, body_bytes, body_cut } = request
  const search = new URLSearchParams(query).toString()
  return {
    method,
    url: `${baseUrl}${path.replace(NOT_IN_URLS, percentEncoded)}${search && `?${search}`}`,
    httpVersion: HTTP,
    cookies: [],
    headers: headers.map(pair),
    queryString: query.map(pair),
    ...(body !== null && { postData: { mimeType: typeOf(headers), text: body, ...cut(body_cut) } }),
    headersSize: -1,
    bodySize: body_bytes,
  }
}

function answered(response: NonNullable<RecordedExchange['response']>): HarEntry['response'] {
  const { status, headers, body, body_bytes, body_cut } = response
  return {
    status,
    statusText: STATUS_CODES[status] ?? '',
    httpVersion: HTTP,
    cookies: [],
    headers: headers.map(pair),
    content: { size: body_bytes, mimeType: typeOf(headers), ...(body !== null && { text: body }), ...cut(body_cut) },
    redirectURL: '',
    headersSize: -1,
    bodySize: body_bytes,
  }
}

/** Status 0: a browser shows such a request as failed, with `_error` as the reason. */
function unanswered({ end, dropped }: RecordedExchange): HarEntry['response'] {
  return {
    status: 0,
    statusText: '',
    httpVersion: HTTP,
    cookies: [],
    headers: [],
    content: { size: 0, mimeType: UNKNOWN_TYPE },
    redirectURL: '',
    headersSize: -1,
    bodySize: -1,
    _error: dropped === null ? ERRORS[end] : `dropped by a fault: ${dropped}`,
  }
}

const ERRORS: Record<RecordedExchange['end'], string> = {
  open: 'not over yet',
  answered: 'the answer is not known',
  dropped: 'dropped by a fault',
  abandoned: 'abandoned by the client',
  cut_off: 'cut off by a reset, or the end of a process of the sandbox',
}

const UNKNOWN_TYPE = 'x-unknown'

function typeOf(headers: RecordedExchange['request']['headers']): string {
  return headerOf(headers, 'content-type') ?? UNKNOWN_TYPE
}

function pair([name, value]: [string, string]): HarPair {
  return { name, value }
}

function cut(isCut: boolean): { comment?: string } {
  return isCut ? { comment: 'only the beginning was kept' } : {}
}
