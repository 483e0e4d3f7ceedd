/** What an operation answers with, before it becomes an HTTP response. */
export interface ApiResponse {
  status: number
  body: unknown
  /** The body as JSON, where it is at hand: it is written as it is, once for many answers. */
  text?: string
  headers?: Record<string, string>
}
