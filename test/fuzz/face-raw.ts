import type { Dice } from './dice.ts'
import type { FuzzRequest, Shooter } from './fuzz-request.ts'
import { STRINGS } from './hostile-values.ts'

const GET = 'GET /v1/partner/pools HTTP/1.1\r\nHost: 127.0.0.1\r\n'
const POST = 'POST /v1/partner/end_users HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n'

/** Requests of which every byte is decided here, and that no client would send. The last line of each ends the request. */
const WHOLE: readonly string[] = [
  'GET / HTTP/1.1\r\n\r\n',
  'GET / HTTP/1.0\r\n\r\n',
  'GET / HTTP/0.9\r\n\r\n',
  'GET / HTTP/2.0\r\n\r\n',
  'GET / HTTP/11.1\r\n\r\n',
  'GET /\r\n\r\n',
  'GET  /  HTTP/1.1\r\n\r\n',
  ' GET / HTTP/1.1\r\n\r\n',
  '\r\n\r\nGET / HTTP/1.1\r\n\r\n',
  'GET http://evil.example/v1/partner/pools HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET //v1//partner//pools HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET \\v1\\partner HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET /v1/partner/pools#x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
  '\x00\x00\x00\x00\r\n\r\n',
  'STATS\r\n\r\n',
  `${GET}Host: evil.example\r\n\r\n`,
  `${GET}: nameless\r\n\r\n`,
  `${GET}No-Colon\r\n\r\n`,
  `${GET}Spaced : x\r\n\r\n`,
  `${GET} folded: x\r\n\r\n`,
  `${GET}X: a\r\n b\r\n\r\n`,
  `${GET}X: \x01\x02\r\n\r\n`,
  `${GET}X: a\nY: b\n\n`,
  `${GET}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`,
  `${GET}Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  `${GET}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
  `${GET}Expect: 100-continue\r\n\r\n`,
  `${GET}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`,
  `${GET}${'X: y\r\n'.repeat(3_000)}\r\n`,
  `${GET}X: ${'y'.repeat(20_000)}\r\n\r\n`,
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
  `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `,
  `${POST}Content-Length: -1\r\n\r\n{}`,
  `${POST}Content-Length: +2\r\n\r\n{}`,
  `${POST}Content-Length: 2, 2\r\n\r\n{}`,
  `${POST}Content-Length: 99999999999999999999\r\n\r\n{}`,
  `${POST}Content-Length: 0x2\r\n\r\n{}`,
  `${POST}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  `${POST}Transfer-Encoding: identity\r\n\r\n{}`,
  `${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  `${POST}Transfer-Encoding: chunked\r\n\r\n2;x=${'y'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  `${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nTrailer: x\r\n\r\n`,
  `${POST}Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n`,
  `${POST}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}\r\n0\r\n\r\n`,
  `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  `${POST}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`,
  `${POST}Content-Length: 200000\r\n\r\n${' '.repeat(200_000)}`,
]

/** Bytes at which a request may be cut off, doubled or changed. */
const AT_MOST = 400

/** Bytes written straight to a socket, whole, changed in places, or cut off. */
export const shootRaw: Shooter = (dice) => {
  const index = dice.below(WHOLE.length)
  const bytes = Buffer.from(WHOLE[index]!, 'latin1')
  const what = dice.weighted({ whole: 4, changed: 4, cut: 2, inserted: 2, random: 1 })
  const request: FuzzRequest = { what: `${what} #${index}`, bytes, method: 'GET', path: '', alone: true }
  // Who can say where a request ends whose bytes were changed? The server may wait for the rest.
  if (what !== 'whole') Object.assign(request, { bytes: changed(bytes, what, dice), mayBeSilent: true })
  return request
}

function changed(bytes: Buffer, what: 'changed' | 'cut' | 'inserted' | 'random', dice: Dice): Buffer {
  const limit = Math.min(AT_MOST, bytes.length)
  if (what === 'random') return dice.bytes(1 + dice.below(300))
  if (what === 'cut') return bytes.subarray(0, dice.below(limit))
  const at = dice.below(limit)
  const inserted = dice.chance(0.5) ? dice.bytes(1 + dice.below(3)) : Buffer.from(dice.pick(STRINGS).slice(0, 500))
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(what === 'changed' ? at + 1 : at)])
}
