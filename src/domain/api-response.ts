import type { Showing } from './records.ts'

/** The answer of an operation, before it becomes an HTTP response. */
export interface ApiResponse {
  status: number
  body: unknown
  /** The body as JSON, if it is at hand. It is then sent unchanged, so many answers can share one serialization. */
  text?: string
  headers?: Record<string, string>
  /** The worth of portfolios that this answer shows. The answer to a transfer shows it in its body instead. */
  shows?: readonly ShownTotal[]
}

/** The worth of one portfolio that an answer shows. */
export type ShownTotal = Omit<Showing, 'request_id'>
