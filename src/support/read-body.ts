/** A body exceeded its reader's limit; it was not read to its end. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'

  constructor(readonly limit: number) {
    super(`more than ${limit} bytes`)
  }
}

/**
 * Reads a body that another process sends (null: none), as UTF-8. Throws {@link BodyTooLargeError} at the limit (bytes) and ends the
 * stream there. Throws what the stream throws.
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
