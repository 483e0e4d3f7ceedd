/** A body was longer than its reader takes; it has not been read to its end. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'

  constructor(readonly limit: number) {
    super(`more than ${limit} bytes`)
  }
}

/**
 * Reads a body that another process sends (null: none), as UTF-8. One that is longer than `limit` bytes is cut off where the limit is
 * passed, and its stream is ended: throws {@link BodyTooLargeError}. Throws what the stream throws.
 */
export async function readBody(body: AsyncIterable<Uint8Array> | null, limit: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > limit) throw new BodyTooLargeError(limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
