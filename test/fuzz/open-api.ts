import { Ajv2020 } from 'ajv/dist/2020.js'

interface Described {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, DescribedResponse> }>>
}
interface DescribedResponse {
  content?: Record<string, { schema?: object }>
}

interface Operation {
  method: string
  pattern: RegExp
  responses: { status: string; types: Map<string, object> }[]
}

/** Statuses that HTTP itself knows, before anybody can know which operation is meant. */
const PROTOCOL: ReadonlySet<number> = new Set([400, 408, 413, 414, 415, 417, 421, 426, 431, 501, 505])

/** What the sandbox says of itself at /openapi.json, to hold its answers against. */
export class OpenApi {
  readonly #operations: Operation[]
  /** Compiles what answers are held against, when the first one is; it remembers each schema. */
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false, code: { optimize: false } })

  constructor(document: Described) {
    this.#ajv.addSchema({ ...document, $id: 'openapi' })
    this.#operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        pattern: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`),
        responses: Object.entries(operation.responses).map(([status, { content = {} }]) => ({
          status: status.toUpperCase(),
          types: new Map(Object.entries(content).map(([type, { schema = {} }]) => [type, inDocument(schema)])),
        })),
      })),
    )
  }

  static async of(baseUrl: string): Promise<OpenApi> {
    return new OpenApi((await (await fetch(`${baseUrl}/openapi.json`)).json()) as Described)
  }

  /** What the description does not allow in an answer; undefined if all is as described, or nothing is. */
  objection(method: string, path: string, answer: { status: number; type: string; body: unknown }): string | undefined {
    const operation = this.#operations.find((one) => one.method === method && one.pattern.test(path))
    if (!operation) return undefined
    const { status, type, body } = answer
    const described = operation.responses.find(
      (one) => one.status === String(status) || one.status === `${`${status}`[0]}XX`,
    )
    if (!described) return PROTOCOL.has(status) ? undefined : `status ${status} is not described`
    if (described.types.size === 0) return undefined
    const schema = described.types.get(type.split(';')[0]?.trim() ?? '')
    if (!schema) return PROTOCOL.has(status) ? undefined : `${type} is not described for ${status}`
    const validate = this.#ajv.compile(schema)
    if (validate(body)) return undefined
    const [error] = validate.errors ?? []
    return `the body of ${status} is not as described: ${error?.instancePath} ${error?.message}`
  }
}

/** References lead into the whole document. */
function inDocument(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'))
}
