import type { TSchema } from '@sinclair/typebox'
import { shorten } from '../../support/foreign-text.ts'
import { formatPath, wordsOf } from '../../support/issue.ts'
import { suggest } from '../../support/nearest.ts'
import { schemaIssues } from '../../support/schema-issues.ts'

/** Versions of the Model Context Protocol whose messages are the same for what is used here, the newest first. */
const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** Codes of JSON-RPC 2.0. */
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602

/** What a tool gives back: text for the model, and the same as data. */
export interface ToolOutcome {
  text: string
  data?: object
}

/** Reports how far a long call is. */
export type Progress = (message: string) => void

/** Something that a coding agent can do with a sandbox. */
export interface McpTool {
  /** Noun or verb in snake_case, unique among the tools. */
  name: string
  title: string
  /** When to use it, and what comes back. */
  description: string
  /** Schema of the arguments: an object, closed. */
  input: TSchema
  /** True if it changes nothing. */
  readOnly?: boolean
  /** `args` fit the schema. An error that it throws is the answer of a failed call, so its message must name the fix. */
  run(args: never, progress: Progress): Promise<ToolOutcome>
}

interface Message {
  jsonrpc: '2.0'
  id?: string | number
  method: string
  params?: Record<string, unknown>
}

/**
 * A server of the Model Context Protocol (modelcontextprotocol.io) for tools, without a transport: `answer` takes a message as it came, or
 * `answerParsed` its value, and returns the one to send back, or undefined for a notification. `notify` is given messages to send before.
 */
export class McpServer {
  readonly #tools: readonly McpTool[]
  readonly #version: string

  constructor(tools: readonly McpTool[], version: string) {
    this.#tools = tools
    this.#version = version
  }

  async answer(text: string, notify?: (message: object) => void): Promise<object | undefined> {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return failure(null, new ProtocolError(PARSE_ERROR, 'the message is not JSON'))
    }
    return this.answerParsed(value, notify)
  }

  async answerParsed(value: unknown, notify: (message: object) => void = () => undefined): Promise<object | undefined> {
    const message = messageIn(value)
    if ('error' in message) return message
    const { id, method, params = {} } = message
    if (id === undefined) return undefined
    const result = (value: object) => ({ jsonrpc: '2.0', id, result: value })
    switch (method) {
      case 'initialize':
        return result(this.#introduction(params.protocolVersion))
      case 'ping':
        return result({})
      case 'tools/list':
        return result({ tools: this.#tools.map(described) })
      case 'tools/call':
        return this.#call(params, progressOf(params, notify)).then(result, (error: unknown) => failure(id, error))
      default:
        return failure(id, new ProtocolError(METHOD_NOT_FOUND, `there is no method "${shorten(method)}"`))
    }
  }

  #introduction(wanted: unknown): object {
    const protocolVersion = PROTOCOL_VERSIONS.find((version) => version === wanted) ?? PROTOCOL_VERSIONS[0]
    return {
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'yield-sandbox', title: 'Yield Portfolio Partner API sandbox', version: this.#version },
      instructions:
        'A sandbox of the Yield Portfolio Partner API. Begin with connect, run the app or its tests against it, then ask report what the ' +
        'client did wrong and requests why something was refused. faults and clock set up situations.',
    }
  }

  async #call({ name, arguments: args = {} }: Record<string, unknown>, progress: Progress): Promise<object> {
    const tool = this.#tools.find((one) => one.name === name)
    if (!tool) {
      const word = typeof name === 'string' ? name : ''
      const names = this.#tools.map((one) => one.name)
      throw new ProtocolError(INVALID_PARAMS, `there is no tool "${shorten(word)}"; ${suggest(word, names)}`)
    }
    const issues = schemaIssues(tool.input, args)
    if (issues.length > 0)
      return failed(issues.map((issue) => `${formatPath(issue.path)}: ${wordsOf(issue)}`).join('\n'))
    try {
      const { text, data } = await tool.run(args as never, progress)
      return { content: [{ type: 'text', text }], ...(data && { structuredContent: data }) }
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error))
    }
  }
}

class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

/** Result of a call that the model can correct by itself. */
function failed(text: string): object {
  return { content: [{ type: 'text', text }], isError: true }
}

function failure(id: string | number | null, error: unknown): object {
  const { code, message } = error instanceof ProtocolError ? error : { code: -32_603, message: 'the call failed' }
  return { jsonrpc: '2.0', id, error: { code, message } }
}

function messageIn(value: unknown): Message | { error: unknown } {
  const { jsonrpc, id, method, params } = (value ?? {}) as Partial<Message>
  const isRequest = jsonrpc === '2.0' && typeof method === 'string' && (params === undefined || isObject(params))
  const hasId = id === undefined || typeof id === 'string' || typeof id === 'number'
  // An answer to a request of the server's would have no method: it sends none.
  if (isRequest && hasId) return value as Message
  return failure(null, new ProtocolError(INVALID_REQUEST, 'a JSON-RPC 2.0 request is expected, one a message')) as {
    error: unknown
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function progressOf(params: Record<string, unknown>, notify: (message: object) => void): Progress {
  const token = isObject(params._meta) ? params._meta.progressToken : undefined
  if (typeof token !== 'string' && typeof token !== 'number') return () => undefined
  let progress = 0
  return (message) => {
    progress += 1
    notify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress, message } })
  }
}

function described({ name, title, description, input, readOnly = false }: McpTool): object {
  return {
    name,
    title,
    description,
    inputSchema: input,
    annotations: { title, readOnlyHint: readOnly, destructiveHint: false, openWorldHint: false },
  }
}
