/** What a client sends first that takes HTTP/2 for granted (RFC 9113 §3.4). */
export const HTTP_2_PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

const WORDS = Buffer.from('This server speaks HTTP/1.1.')

/**
 * The answer to it in HTTP/2 itself, all that such a client can read: empty SETTINGS, which have to come first, and GOAWAY
 * with the error HTTP_1_1_REQUIRED (RFC 9113 §6.5, §6.8, §7).
 */
export const HTTP_1_1_REQUIRED = Buffer.concat([
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0, 8 + WORDS.length, 7, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0, 0, 0, 0, 0, 0, 0x0d]),
  WORDS,
])
