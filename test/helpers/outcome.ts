import type { Answer } from './partner.ts'

/** How a request went, in a word: `200`, or status and code of an error, `422 pool_not_found`. */
export function outcome({ status, body }: Pick<Answer, 'status' | 'body'>): string {
  return typeof body?.code === 'string' ? `${status} ${body.code}` : String(status)
}
