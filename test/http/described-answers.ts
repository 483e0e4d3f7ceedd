import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { RawAnswer } from './raw-http.ts'

type Json = Record<string, unknown>

/** An OpenAPI document, as far as a test looks into it. */
export interface OpenApiDocument {
  servers: { url: string }[]
  paths: Record<string, Record<string, DescribedOperation>>
  components: Record<'schemas' | 'headers' | 'examples' | 'securitySchemes', Record<string, Json>>
}

/** One operation of an {@link OpenApiDocument}. */
export interface DescribedOperation {
  operationId: string
  security: Record<string, string[]>[]
  parameters: { name: string; in: string; required: boolean; schema: Json; example?: unknown }[]
  requestBody?: { content: Record<string, { schema: Json; example?: unknown }> }
  responses: Record<string, { headers: Record<string, Json>; content?: Record<string, { schema: Json } & Json> } & Json>
}

interface PlacedOperation {
  path: string
  target: string
  method: string
  operation: DescribedOperation
}

/** Headers of HTTP itself, which no description names. */
const OF_HTTP = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'])

const FORMATS = { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ }

/** Holds answers to the description: whatever it does not name is wrong. Notes what was seen of it. */
export class DescribedAnswers {
  /** `operationId status`. */
  readonly seen = new Set<string>()
  readonly #document: OpenApiDocument
  /** Compiles what many answers share once, and does not make the code of so many validators, each of which runs a few times, any quicker. */
  readonly #ajv = new Ajv2020({
    ...{ strict: false, allErrors: true, formats: FORMATS },
    ...{ inlineRefs: false, code: { optimize: false } },
  })
  readonly #compiled = new Map<string, ValidateFunction>()
  #operations: PlacedOperation[] | undefined

  constructor(document: OpenApiDocument) {
    this.#document = document
    this.#ajv.addSchema({ ...(closed(document) as Json), $id: 'openapi' })
  }

  /** Every operation with its path, as described and behind the path of its server, and its method. */
  operations(): PlacedOperation[] {
    this.#operations ??= this.#placed()
    return this.#operations
  }

  #placed(): PlacedOperation[] {
    return Object.entries(this.#document.paths).flatMap(([path, item]) => {
      const { servers = this.#document.servers, ...methods } = item as { servers?: OpenApiDocument['servers'] }
      const target = `${new URL(servers[0]!.url).pathname.replace(/\/$/, '')}${path}`
      return Object.entries(methods as typeof item).map(([method, operation]) => ({ path, target, method, operation }))
    })
  }

  /** What is not as described; nothing when all of it is. */
  objections(operationId: string, answer: RawAnswer): string[] {
    const found = this.operations().find(({ operation }) => operation.operationId === operationId)
    if (!found) return [`${operationId} is not described`]
    const { path, method, operation } = found
    const response = operation.responses[answer.status]
    if (!response) return [`${operationId}: status ${answer.status} is not described: ${answer.text.slice(0, 300)}`]
    this.seen.add(`${operationId} ${answer.status}`)
    const place = ['paths', path, method, 'responses', String(answer.status)]
    const objections = [...this.#headerObjections(response, answer), ...this.#bodyObjections(response, answer, place)]
    return objections.map((objection) => `${operationId} ${answer.status}: ${objection}`)
  }

  #headerObjections({ headers }: DescribedOperation['responses'][string], answer: RawAnswer): string[] {
    const described = new Map(Object.keys(headers).map((name) => [name.toLowerCase(), name]))
    return Object.entries(answer.headers).flatMap(([name, value]) => {
      if (OF_HTTP.has(name)) return []
      const written = described.get(name)
      if (written === undefined) return [`the header ${name} is not described`]
      const reference = String(headers[written]!.$ref ?? '')
      const header = reference ? this.#document.components.headers[reference.split('/').at(-1)!]! : headers[written]!
      const read = (header.schema as Json).type === 'integer' ? Number(value) : value
      return this.#ajv.validate(header.schema as Json, read) ? [] : [`the header ${name} is not as described: ${value}`]
    })
  }

  #bodyObjections(response: DescribedOperation['responses'][string], answer: RawAnswer, place: string[]): string[] {
    if (!response.content) return answer.text === '' ? [] : [`has a body: ${answer.text.slice(0, 100)}`]
    const type = answer.headers['content-type']?.split(';', 1)[0] ?? ''
    const described = response.content[type]
    if (!described) return [`the content type ${type} is not described`]
    const body: unknown = type.endsWith('json') ? JSON.parse(answer.text) : answer.text
    const validate = this.#validator(described.schema, [...place, 'content', type, 'schema'])
    if (validate(body)) return []
    return [`the body is not as described: ${this.#ajv.errorsText(validate.errors)}: ${answer.text.slice(0, 300)}`]
  }

  /** That of the schema at this place. Most answers only refer to one that others refer to as well: it is compiled once for all of them. */
  #validator({ $ref: shared, ...more }: Json, place: string[]): ValidateFunction {
    const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).map(encodeURIComponent)
    const isShared = typeof shared === 'string' && Object.keys(more).length === 0
    const $ref = isShared ? `openapi${shared}` : `openapi#/${pointer.join('/')}`
    const validate = this.#compiled.get($ref) ?? this.#ajv.compile({ $ref })
    this.#compiled.set($ref, validate)
    return validate
  }
}

/** A copy in which objects have the properties they are described with, and no others. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed)
  if (part === null || typeof part !== 'object') return part
  const copy = Object.fromEntries(Object.entries(part).map(([name, member]) => [name, closed(member)]))
  const open = 'properties' in part && !('additionalProperties' in part) && isSchema(part)
  return open ? { ...copy, additionalProperties: false } : copy
}

function isSchema(part: object): boolean {
  return 'type' in part && part.type === 'object'
}
