import type { IncomingMessage } from 'node:http'

/**
 * Reads the body of a request and leaves it where it was, for whoever answers the request. Undefined if there is none, if it has more than
 * `most` bytes, or if it does not come whole.
 */
export function peekBody(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (coding === undefined && (length === undefined || Number(length) === 0 || Number(length) > most)) {
    return Promise.resolve(undefined)
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (isWhole: boolean) => {
      request.off('readable', look).off('end', ended).off('close', left)
      const body = Buffer.concat(chunks)
      // In the same turn as the reading: a stream that has been read to its end takes nothing back.
      if (size > 0) request.unshift(body)
      resolve(isWhole && size <= most ? body : undefined)
    }
    const look = () => {
      while (request.readableLength > 0 && size <= most) {
        const chunk: Buffer = request.read()
        chunks.push(chunk)
        size += chunk.length
      }
      if (request.complete || size > most) settle(request.complete)
    }
    const ended = () => {
      // A body of chunks that had none. What reads it later would wait for its end, which has been.
      delete request.headers['transfer-encoding']
      settle(true)
    }
    const left = () => settle(false)
    request.on('readable', look).once('end', ended).once('close', left)
  })
}
