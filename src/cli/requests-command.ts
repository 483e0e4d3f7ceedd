import { type Command, Option } from 'commander'
import type { ExchangeQuery, ExplainedExchange, RecordedExchange } from '../control/contract.ts'
import { type ControlFlags, clientOf, commandGroup, controlCommand, print } from './control-options.ts'
import { wholeNumber } from './parse-argument.ts'

interface ListFlags extends ControlFlags, Record<keyof Filters, string | undefined> {
  connection?: number
  limit?: number
  startingAfter?: string
  har?: boolean
}

interface Filters {
  operation: string
  tenant: string
  externalId: string
  status: string
  code: string
  end: string
  fault: string
  idempotencyKey: string
}

/** `requests list|show`: recorded requests of clients, and their outcome. */
export function requestsCommand(): Command {
  return commandGroup('requests', 'Requests that a running sandbox has recorded.', [listCommand(), showCommand()])
}

const harOption = () => new Option('--har', 'print an HTTP Archive, for the developer tools of a browser')

function listCommand(): Command {
  return controlCommand(
    'list',
    'List requests, newest first: id, when, connection, what, how it ended, error code, fault, transaction hash.',
    [
      'requests list',
      'requests list --operation deposit --status 4xx --limit 100',
      'requests list --end dropped --json',
      'requests list --har > requests.har',
    ],
  )
    .option('--operation <operation>', 'only this operation')
    .option('--tenant <slug>', 'only this tenant')
    .option('--external-id <id>', 'only this end user')
    .option('--status <status>', 'only answered with this status, 409, or such a one, 4xx')
    .option('--code <code>', 'only refused with this error code')
    .option('--end <end>', 'only answered, dropped, abandoned, cut_off or open')
    .option('--fault <fault>', 'only struck by this fault: its id or its kind')
    .option('--idempotency-key <key>', 'only with this key')
    .option('--connection <n>', 'only on this connection', wholeNumber)
    .option('--limit <n>', 'at most so many, 1 to 100 (default: 25; of an archive, all)', wholeNumber)
    .option('--starting-after <cursor>', 'go on where the page before ended: next_cursor of --json')
    .addOption(harOption())
    .action(async (flags: ListFlags) => {
      const client = clientOf(flags)
      if (flags.har) return print({ json: true }, await client.har(queryOf(flags)), [])
      const page = await client.requests(queryOf(flags))
      print(flags, page, page.data.map(rowOf), HEADINGS)
    })
}

function showCommand(): Command {
  return controlCommand('show', 'Explain one request: what was asked, what became of it, and what to do.', [
    'requests show req_01JG3Q4W5X6Y7Z8A9B0C1D2E3F',
    'requests show req_01JG3Q4W5X6Y7Z8A9B0C1D2E3F --json',
  ])
    .argument('<request_id>', 'which one, as the header X-Service-Request-Id of its answer or an error says')
    .addOption(harOption())
    .action(async (id: string, flags: ControlFlags & { har?: boolean }) => {
      const client = clientOf(flags)
      if (flags.har) return print({ json: true }, await client.har(id), [])
      const exchange = await client.request(id)
      print(flags, exchange, linesOf(exchange))
    })
}

/** The query, unchecked: the sandbox itself checks it, since its messages name the allowed values. */
function queryOf(flags: ListFlags): ExchangeQuery {
  const { operation, tenant, externalId: external_id, status, code, end, fault, connection, limit } = flags
  const { idempotencyKey: idempotency_key, startingAfter: starting_after } = flags
  const query = { operation, tenant, external_id, status, code, end, fault, idempotency_key, connection, limit }
  return { ...query, starting_after } as ExchangeQuery
}

const HEADINGS = ['request', 'when', 'connection', 'what', 'end', 'code', 'fault', 'transaction']

function rowOf(exchange: RecordedExchange): unknown[] {
  const { request_id, began, connection, request, response, refusal, faults, transfer } = exchange
  const code = response?.code ?? refusal?.code
  const fault = faults.map(({ id, kind }) => `${id}:${kind}`).join(',')
  const what = `${request.method} ${request.path}`
  return [request_id, began.wall, connection, what, endOf(exchange), code, fault, transfer?.tx_hash]
}

/** The status of the answer, or the reason why there is none. */
function endOf({ end, response }: RecordedExchange): string {
  return end === 'answered' && response ? String(response.status) : end
}

/** The explanation, then the request and the answer. */
function linesOf({ explanation, request, response, end }: ExplainedExchange): string[][] {
  const answer = response && [
    [`${end === 'answered' ? '<' : '< (not received)'} ${response.status}`],
    ...response.headers.map(([name, value]) => [`< ${name}: ${value}`]),
    ...(response.body === null ? [] : [[`< ${response.body}`]]),
  ]
  const query = new URLSearchParams(request.query).toString()
  return [
    ...explanation.map((sentence) => [sentence]),
    [`> ${request.method} ${request.path}${query && `?${query}`}`],
    ...request.headers.map(([name, value]) => [`> ${name}: ${value}`]),
    ...(request.body === null ? [] : [[`> ${request.body}`]]),
    ...(answer ?? []),
  ]
}
