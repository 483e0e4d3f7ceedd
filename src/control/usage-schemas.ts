import { Type } from '@sinclair/typebox'
import { OUTCOMES } from '../traffic/request-counts.ts'
import type { CountedRequests, NamespaceHoldings, NamespaceUsage, Usage } from './contract.ts'
import { Count, control, Moment, oneOf, orNull, Text } from './schema-parts.ts'

const CountedRequestsSchema = control<CountedRequests>(
  'CountedRequests',
  Type.Object({
    total: Count(
      'Since the process began, resets or not. Requests to the chains and to this interface are not counted.',
    ),
    by_outcome: Type.Unsafe<CountedRequests['by_outcome']>(
      Type.Object(Object.fromEntries(OUTCOMES.map((name) => [name, Type.Integer({ minimum: 0 })])), {
        description: 'By the status of the answer; none: no whole answer reached the client.',
      }),
    ),
  }),
)

const HoldingsSchema = control<NamespaceHoldings>(
  'NamespaceHoldings',
  Type.Object({
    record_bytes: Count('Approximate memory of the requests on record.'),
    ledger: Type.Object({
      bytes: Count('Of its journal, or of memory.'),
      bytes_of: oneOf(
        ['journal', 'memory'],
        'journal: the length of its file; memory: an estimate, without --data-dir.',
      ),
      end_users: Count('Its end users.'),
      portfolios: Count('Their portfolios.'),
      transactions: Count('Their transactions.'),
    }),
  }),
)

const NamespaceUsageSchema = control<NamespaceUsage>(
  'NamespaceUsage',
  Type.Object({
    name: Text('Its name.'),
    created_at: Type.Optional(Moment('Wall-clock time.')),
    age_seconds: Type.Optional(Count('Since then.')),
    requests: CountedRequestsSchema,
    last_request_at: orNull(
      Moment('Wall-clock time.'),
      'When the newest came, one to a chain included; null for none.',
    ),
    anvils: Count('Its Anvils that run now.'),
    holdings: orNull(HoldingsSchema, 'Null for a stored one that nobody has asked for since the process began.'),
  }),
)

export const UsageSchema = control<Usage>(
  'Usage',
  Type.Object({
    uptime_seconds: Count('Since the sandbox began.'),
    memory: Type.Object(
      { resident_bytes: Count('All memory of the process.'), heap_used_bytes: Count('Of that, JavaScript objects.') },
      { description: 'Of the process, without its Anvils, which are processes of their own.' },
    ),
    anvils: Type.Object({ running: Count('Of all namespaces, and spare ones.'), limit: Count('--max-nodes.') }),
    requests: CountedRequestsSchema,
    namespace_count: Type.Object({
      total: Count('With the default one.'),
      open: Count('Those asked for since the process began.'),
      limit: Count('--max-namespaces, beside the default one.'),
    }),
    namespaces: Type.Array(NamespaceUsageSchema, { description: 'The default one first.' }),
  }),
)

export const MetricsSchema = control<string>(
  'Metrics',
  Type.String({
    description: 'Text format 0.0.4 of Prometheus.',
    examples: ['yield_sandbox_requests_total{namespace="default",operation="deposit",status="2xx"} 12\n'],
  }),
)
