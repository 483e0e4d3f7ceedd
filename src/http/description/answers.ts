import { from } from '../../domain/described-schema.ts'
import { ERRORS, type ErrorCode } from '../../domain/errors.ts'
import type { ServiceSettings } from '../../domain/service-settings.ts'
import { problemType } from '../problem.ts'
import { headers, type Json, originOf, problemSchema } from './components.ts'

/** Description of the answer of one status. */
export interface DescribedAnswer extends Json {
  description: string
  headers?: Json
  content?: Record<string, Json>
}

/** Headers by status that an answer may carry beside the version and the request id. */
const HEADERS: Record<string, readonly string[]> = {
  401: ['WWW-Authenticate'],
  409: ['Retry-After'],
  415: ['Accept-Encoding'],
  429: ['Retry-After'],
  500: ['Retry-After'],
  502: ['Retry-After'],
  503: ['Retry-After'],
  504: ['Retry-After'],
}

/** Describes answers under these settings. */
export class Answers {
  readonly #settings: ServiceSettings
  readonly #type: string

  constructor(settings: ServiceSettings) {
    this.#settings = settings
    this.#type = problemType(settings).split(';', 1)[0] ?? ''
  }

  /** Error answers by status, of these codes. */
  ofErrors(codes: readonly ErrorCode[]): Record<string, DescribedAnswer> {
    const statuses = [...new Set(codes.map((code) => ERRORS[code].status))]
    return Object.fromEntries(
      statuses.map((status) => {
        const own = [...new Set(codes)].filter((code) => ERRORS[code].status === status)
        const examples = Object.fromEntries(own.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
        const description = own.map((code) => `\`${code}\``).join(', ')
        const content = { [this.#type]: { schema: problemSchema(this.#settings), examples } }
        return [status, { description, ...from(...own.map(originOf)), content }]
      }),
    )
  }

  /** Merges two sets of answers; a status of both has both forms. */
  merge(
    some: Record<string, DescribedAnswer>,
    others: Record<string, DescribedAnswer>,
  ): Record<string, DescribedAnswer> {
    const statuses = [...new Set([...Object.keys(some), ...Object.keys(others)])].sort()
    return Object.fromEntries(
      statuses.map((status) => {
        const [a, b] = [some[status], others[status]]
        if (!a || !b) return [status, a ?? b ?? { description: '' }]
        const description = `${a.description} ${b.description}`
        return [status, { ...a, ...b, description, headers: { ...b.headers, ...a.headers }, content: bothOf(a, b) }]
      }),
    )
  }

  /** Adds the headers of every answer; `more` are names of others. */
  withHeaders(answers: Record<string, DescribedAnswer>, more: readonly string[] = []): Record<string, DescribedAnswer> {
    const { ofEveryAnswer } = headers(this.#settings)
    return Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => {
        const names = [...ofEveryAnswer, ...more, ...(HEADERS[status] ?? [])]
        const shared = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
        return [status, { ...answer, headers: { ...shared, ...answer.headers } }]
      }),
    )
  }
}

function bothOf(a: DescribedAnswer, b: DescribedAnswer): Record<string, Json> {
  const content: Record<string, Json> = { ...a.content }
  for (const [type, other] of Object.entries(b.content ?? {})) {
    const one = content[type]
    content[type] = one ? { ...other, ...one, schema: { anyOf: [one.schema, other.schema] } } : other
  }
  return content
}
