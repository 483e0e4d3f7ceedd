import type { Dice } from './dice.ts'
import type { HttpDeps } from './fuzz-request.ts'
import { hostileBody, hostileValue, STRINGS } from './hostile-values.ts'

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'get',
  'FOO',
  'CONNECT',
]

const SEGMENTS = ['', '.', '..', '%', '%00', '%2F', '%2e%2e', '%ff', '%C0%80', ';a=b', '*', 'alice', 'v1', '__proto__']

const CONTENT_TYPES = [
  '',
  'text/plain',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/json; charset=',
  'application/json;',
  'application/JSON',
  'application/json, text/plain',
  'json',
  '*/*',
  `application/${'x'.repeat(5_000)}`,
]

const HEADERS = [
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-type',
  'cookie',
  'date',
  'expect',
  'forwarded',
  'host',
  'if-none-match',
  'origin',
  'range',
  'referer',
  'te',
  'trailer',
  'upgrade',
  'via',
  'x-forwarded-for',
  'x-http-method-override',
  'x-sandbox-control-token',
  '__proto__',
  'constructor',
]

const HEADER_VALUES = [
  'close',
  'keep-alive',
  'upgrade',
  'gzip',
  'gzip, deflate, br',
  'h2c',
  'websocket',
  '100-continue',
  'nonsense',
  'bytes=0-0',
  'http://evil.example',
  'evil.example',
  '[::1]:4010',
  '127.0.0.1, evil.example',
  'a'.repeat(9_000),
  'a'.repeat(20_000),
  'ünïcödé',
  '\tx\t',
]

/** Changes some parts of a sound request, or none. Bodies only where the request has one. */
export function mutate(deps: HttpDeps, dice: Dice): void {
  for (let left = dice.weighted({ 0: 3, 1: 5, 2: 2, 3: 1 }); Number(left) > 0; left = String(Number(left) - 1) as '0') {
    const what = dice.weighted({ body: 6, query: 3, path: 2, header: 4, drop: 1, twice: 1, method: 1 })
    if (what === 'body' && deps.body !== undefined) deps.body = hostileBody(dice)
    else if (what === 'path') deps.path = hostilePath(deps.path, dice)
    else if (what === 'header') addHeader(deps, dice)
    else if (what === 'drop') deps.headers.splice(dice.below(deps.headers.length + 1), 1)
    else if (what === 'twice' && deps.headers.length > 0) deps.headers.push(dice.pick(deps.headers))
    else if (what === 'method') deps.method = dice.pick(METHODS)
    else deps.path += `${deps.path.includes('?') ? '&' : '?'}${hostileQuery(dice)}`
  }
}

/** A value of a header, hostile; seldom one that ends the header early. */
export function hostileHeader(dice: Dice): string {
  const value = dice.chance(0.5) ? dice.pick(HEADER_VALUES) : dice.pick(STRINGS)
  return dice.chance(0.1) ? value : value.replace(/[\r\n\0]/g, '')
}

/** A query, or what looks like one. */
export function hostileQuery(dice: Dice): string {
  if (dice.chance(0.005))
    return dice.pick(['a&'.repeat(2_000), 'limit=1&'.repeat(300), '&'.repeat(3_000), '%'.repeat(500)])
  const name = dice.pick(['limit', 'starting_after', 'ending_before', 'limit[]', '__proto__', '', 'x'])
  const value = hostileValue(dice)
  const text = typeof value === 'string' ? value : String(JSON.stringify(value))
  const short = text.slice(0, 4_000)
  return `${name}=${dice.chance(0.8) ? percentEncoded(short) : short.replace(/[\s\0]/g, '+')}`
}

/** As encodeURIComponent, which throws on half a surrogate pair. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}

function hostilePath(path: string, dice: Dice): string {
  const segments = path.split('/')
  const segment = dice.chance(0.5) ? dice.pick(SEGMENTS) : percentEncoded(dice.pick(STRINGS).slice(0, 3_000))
  segments.splice(1 + dice.below(segments.length), dice.below(2), segment)
  return segments.join('/')
}

function addHeader(deps: HttpDeps, dice: Dice): void {
  if (dice.chance(0.3)) {
    deps.headers = deps.headers.filter(([name]) => name !== 'content-type')
    deps.headers.push(['content-type', dice.pick(CONTENT_TYPES)])
  } else if (dice.chance(0.4) && deps.headers.length > 0) {
    const [name] = dice.pick(deps.headers)
    deps.headers = deps.headers.map((header) => (header[0] === name ? [name, hostileHeader(dice)] : header))
  } else deps.headers.push([dice.pick(HEADERS), hostileHeader(dice)])
}
