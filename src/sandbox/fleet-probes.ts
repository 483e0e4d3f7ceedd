import { createServer, type Server } from 'node:http'
import { answerOwnerAway, type FrontVoice } from '../http/front-server.ts'
import { probeIn } from '../http/routing.ts'

/** What a process of a fleet that joins or leaves the others says of itself. */
export interface Standing {
  /** As `GET /_sandbox/health` has it. */
  health(): object
  /** Reason why no requests should come to it, a sentence; undefined for none. */
  obstacle(): string | undefined
}

/** A server that listens nowhere: answers probes as the service does, and refuses all else. */
export function createProbeServer(voice: FrontVoice, { health, obstacle }: Standing): Server {
  return createServer((request, response) => {
    const probe = probeIn(request.url)
    if (probe === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) {
      return answerOwnerAway(request, response, voice)
    }
    const reason = probe === 'ready' ? obstacle() : undefined
    const body = probe === 'health' ? health() : reason === undefined ? { ready: true } : { ready: false, reason }
    const text = JSON.stringify(body)
    response.writeHead(reason === undefined ? 200 : 503, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      ...(reason !== undefined && { 'retry-after': '1' }),
    })
    response.end(request.method === 'HEAD' ? undefined : text)
  })
}
