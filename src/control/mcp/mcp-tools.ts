import { type Static, Type } from '@sinclair/typebox'
import { OPERATIONS } from '../../domain/operations.ts'
import { oneWordOf } from '../../support/text-kind.ts'
import { renderReportText } from '../../verdict/render/text.ts'
import type { ControlClient } from '../client.ts'
import type { ActiveFault, Credentials, ExchangePage, ExchangeQuery, FaultRule } from '../contract.ts'
import type { McpTool } from './mcp-server.ts'

const closed = { additionalProperties: false } as const

const Connect = Type.Object(
  {
    new_namespace: Type.Optional(
      Type.String({
        description: 'Makes a namespace of that name first: an isolated copy with credentials of its own.',
      }),
    ),
  },
  closed,
)

const Requests = Type.Object(
  {
    request_id: Type.Optional(Type.String({ description: 'Explains this request; "latest" is the newest.' })),
    operation: Type.Optional(oneWordOf(OPERATIONS, { description: 'Lists those of an operation.' })),
    status: Type.Optional(Type.String({ description: 'Lists those answered so: "401", "4xx".' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'At most so many; default 20.' })),
  },
  closed,
)

const Verdict = Type.Object(
  {
    require: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Ids of findings that must be passed, such as idempotency-key-on-retry.',
      }),
    ),
  },
  closed,
)

const Faults = Type.Object(
  {
    add: Type.Optional(
      Type.Array(Type.Object({ kind: Type.String() }), {
        description:
          'Rules to put in force: {"kind": "drop_connection", "phase": "after_broadcast", "match": {"operation": "deposit"}, "times": 1}.',
      }),
    ),
    clear: Type.Optional(Type.Boolean({ description: 'true clears all rules first.' })),
    kinds: Type.Optional(Type.Boolean({ description: 'true lists the kinds there are, with phases and parameters.' })),
  },
  closed,
)

const Clock = Type.Object(
  {
    advance: Type.Optional(Type.String({ description: 'Moves business time on: 250ms, 2s, 10m, 24h, 30d.' })),
    set: Type.Optional(Type.String({ description: 'Moves it on to a later moment, ISO 8601.' })),
    freeze: Type.Optional(Type.Boolean({ description: 'true stops it, false lets it run on.' })),
  },
  closed,
)

/** Tools on a running sandbox, or on the client's namespace of it. */
export function mcpTools(client: ControlClient): McpTool[] {
  return [
    {
      name: 'connect',
      title: 'Where the sandbox is',
      description:
        'Gives all that an app needs to use the sandbox: base URL, token URL, client id and secret, and what user tokens are signed with. ' +
        'Use it first; with new_namespace for work that must not disturb others.',
      input: Connect,
      async run({ new_namespace: name }: Static<typeof Connect>) {
        const credentials = await (name === undefined ? client.credentials() : client.createNamespace({ name }))
        return { text: connection(credentials), data: credentials }
      },
    },
    {
      name: 'requests',
      title: 'What the client sent',
      description:
        'Lists recorded requests, newest first, or explains one: which check refused it, what was expected and what came, which fault ' +
        'struck it, what became of the money, what to do next.',
      input: Requests,
      readOnly: true,
      async run({ request_id: id, ...filter }: Static<typeof Requests>) {
        if (id !== undefined) {
          const exchange = await client.request(id)
          return { text: exchange.explanation.join('\n'), data: exchange }
        }
        const page = await client.requests({ limit: 20, ...filter } as ExchangeQuery)
        return { text: lines(page), data: page }
      },
    },
    {
      name: 'report',
      title: 'Is the client right?',
      description:
        'The verdict on everything the client did since the start or the last reset: rules that were broken with the fix and the requests, ' +
        'and what became of every operation by the ledger. Use it after the app or its tests ran.',
      input: Verdict,
      readOnly: true,
      async run({ require = [] }: Static<typeof Verdict>) {
        const report = await client.report({ require: require as never })
        const { verdict, summary, findings } = report
        const open = findings.filter(({ outcome }) => outcome !== 'passed' && outcome !== 'not_exercised')
        return { text: renderReportText([report]), data: { verdict, summary, findings: open } }
      },
    },
    {
      name: 'faults',
      title: 'What goes wrong',
      description:
        'Lists the faults in force, after clearing and adding rules. Each rule strikes once unless times says otherwise.',
      input: Faults,
      async run({ add = [], clear = false, kinds = false }: Static<typeof Faults>) {
        if (kinds) {
          const { describeKinds } = await import('../../faults/describe-kinds.ts')
          const all = describeKinds()
          return {
            text: all.map(({ kind, phases }) => `${kind}: ${phases.join(', ')}`).join('\n'),
            data: { kinds: all },
          }
        }
        if (clear) await client.clearFaults()
        if (add.length > 0) await client.addFaults(add as FaultRule[])
        const faults = await client.faults()
        return {
          text: faults.length === 0 ? 'No fault is in force.' : faults.map(ruleLine).join('\n'),
          data: { faults },
        }
      },
    },
    {
      name: 'clock',
      title: 'Business time',
      description:
        'Shows business time, or moves it forward: yield accrues, cursors and keys age, confirmation delays pass.',
      input: Clock,
      async run(move: Static<typeof Clock>) {
        const state = await (Object.keys(move).length === 0 ? client.clock() : client.moveClock(move))
        return { text: `It is ${state.now}, ${state.frozen ? 'frozen' : 'running'}.`, data: state }
      },
    },
  ]
}

function connection({ base_url, auth_url, scope, control_url, tenants: [tenant] }: Credentials): string {
  const users = tenant?.end_users.join(', ')
  return [
    `YIELD_BASE_URL=${base_url}`,
    `YIELD_AUTH_URL=${auth_url}`,
    `YIELD_SCOPE=${scope}`,
    `YIELD_CLIENT_ID=${tenant?.client_id ?? ''}`,
    `YIELD_CLIENT_SECRET=${tenant?.client_secret ?? ''}`,
    `YIELD_CONTROL_URL=${control_url}`,
    `End users that are there: ${users || 'none'}. User tokens: issuer ${tenant?.issuer}, kid ${tenant?.kid}, RS256; the key is in`,
    'tenants[0].private_key_pem of the data.',
  ].join('\n')
}

function lines({ data, has_more: more }: ExchangePage): string {
  if (data.length === 0) return 'No request was recorded.'
  const rows = data.map(({ request_id, request, response, end, operation }) =>
    [
      request_id,
      `${request.method} ${request.path}`,
      operation ?? '',
      response?.status ?? '',
      response?.code ?? '',
      end,
    ].join('  '),
  )
  return [...rows, ...(more ? ['There are older ones.'] : [])].join('\n')
}

function ruleLine({ id, hits, explanation }: ActiveFault): string {
  return `${id}: ${explanation} It has struck ${hits} times.`
}
