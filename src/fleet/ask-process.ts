import { request as openRequest } from 'node:http'
import { headerBetweenProcesses } from './forwarded-header.ts'
import type { Owner } from './owner.ts'

/** An answer of another process of the fleet, whole. */
interface FleetAnswer {
  status: number
  headers: NodeJS.Dict<string | string[]>
  body: Buffer
}

/** A request that a process of the fleet makes of another one by itself. */
export interface FleetRequest {
  method: string
  path: string
  /** With Host. */
  headers: Record<string, string>
  body: Buffer
  signal: AbortSignal
}

/**
 * Asks another process of the fleet as if a client had asked and the request had been passed on, so that it answers for what it has
 * itself. Rejects if it cannot be reached, or the signal is aborted.
 */
export function askProcess(owner: Owner, { method, path, headers, body, signal }: FleetRequest): Promise<FleetAnswer> {
  const lines = Object.entries({ ...headers, 'content-length': String(body.length) })
  return new Promise((resolve, reject) => {
    const asked = openRequest({
      host: owner.host,
      port: owner.port,
      agent: false,
      setHost: false,
      method,
      path,
      signal,
      headers: [...headerBetweenProcesses(lines.length, owner.secret), ...lines.flat()],
    })
    asked.on('error', reject).once('response', (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) })
      })
    })
    asked.end(body)
  })
}
