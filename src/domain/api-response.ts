import type { Showing } from './records.ts'

/** What an operation answers with, before it becomes an HTTP response. */
export interface ApiResponse {
  status: number
  body: unknown
  /** The body as JSON, where it is at hand: it is written as it is, once for many answers. */
  text?: string
  headers?: Record<string, string>
  /** What it shows portfolios to be worth; the answer to a transfer says so in its body. */
  shows?: readonly ShownTotal[]
}

/** What an answer shows a portfolio to be worth. */
export type ShownTotal = Omit<Showing, 'request_id'>
