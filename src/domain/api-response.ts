/** What an operation answers with, before it becomes an HTTP response. */
export interface ApiResponse {
  status: number
  body: unknown
  headers?: Record<string, string>
}
