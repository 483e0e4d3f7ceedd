import type { NamespaceUsage } from '../control/contract.ts'
import { type Labels, type Metric, metricsText } from '../support/prometheus-text.ts'
import {
  COUNTED_OPERATIONS,
  LATENCY_BOUNDS,
  OUTCOMES,
  type RequestCounts,
  type RequestMeter,
} from '../traffic/request-counts.ts'
import { version } from '../version.ts'
import { type UsageDeps, usageOf } from './usage.ts'

/** Label of all namespaces that have no series of their own. No namespace can have this name. */
const OTHERS = '(others)'

/**
 * What `GET /_sandbox/usage` has, and the latencies, as metrics in the text format of Prometheus. The number of series is bounded by the
 * namespaces that {@link RequestMeter} tells apart; a series of requests begins with its first one.
 */
export function metricsOf(deps: UsageDeps): string {
  const { meter } = deps.surroundings
  const { memory, anvils, namespace_count, namespaces } = usageOf(deps)
  const { user, system } = process.cpuUsage()
  const one = (value: number, labels?: Labels) => [{ value, ...(labels && { labels }) }]
  return metricsText([
    gauge('build_info', 'Version of the sandbox; the value is always 1.', one(1, { version })),
    gauge('start_time_seconds', 'When the sandbox began, in seconds since the Unix epoch.', one(deps.began / 1000)),
    counter('cpu_seconds_total', 'Processor time of the process, without its Anvils.', one((user + system) / 1e6)),
    gauge('resident_memory_bytes', 'Memory of the process, without its Anvils.', one(memory.resident_bytes)),
    gauge('heap_used_bytes', 'Memory of JavaScript objects.', one(memory.heap_used_bytes)),
    gauge('anvils', 'Anvils that run, spare ones included.', one(anvils.running)),
    gauge('anvils_limit', 'Anvils that may run at once.', one(anvils.limit)),
    gauge('namespaces', 'Namespaces, the default one included.', one(namespace_count.total)),
    gauge('namespaces_open', 'Namespaces asked for since the process began.', one(namespace_count.open)),
    gauge('namespaces_limit', 'Namespaces that may be made beside the default one.', one(namespace_count.limit)),
    counter(
      'requests_total',
      'Requests that are over; status none: no whole answer reached the client.',
      requests(meter),
    ),
    {
      name: named('request_duration_seconds'),
      help: 'From the arrival of a request to its end, of all namespaces.',
      type: 'histogram',
      series: durations(meter.all),
    },
    ...ofNamespaces(namespaces, meter),
  ])
}

const named = (name: string) => `yield_sandbox_${name}`

function gauge(name: string, help: string, series: Metric['series']): Metric {
  return { name: named(name), help, type: 'gauge', series }
}

function counter(name: string, help: string, series: Metric['series']): Metric {
  return { name: named(name), help, type: 'counter', series }
}

function* requests({ named: apart, others }: RequestMeter): Metric['series'] {
  const groups: (readonly [string, RequestCounts])[] = others ? [...apart, [OTHERS, others]] : [...apart]
  for (const [namespace, counts] of groups) {
    for (const operation of COUNTED_OPERATIONS) {
      for (const status of OUTCOMES) {
        const value = counts.count(status, operation)
        if (value > 0) yield { labels: { namespace, operation, status }, value }
      }
    }
  }
}

function* durations(counts: RequestCounts): Metric['series'] {
  for (const operation of COUNTED_OPERATIONS) {
    const { counts: buckets, sum } = counts.latencies(operation)
    let upTo = 0
    for (const [i, count] of buckets.entries()) {
      const bound = LATENCY_BOUNDS[i]
      upTo += count
      const le = bound === undefined ? '+Inf' : String(bound / 1000)
      yield { suffix: '_bucket', labels: { operation, le }, value: upTo }
    }
    yield { suffix: '_sum', labels: { operation }, value: sum / 1000 }
    yield { suffix: '_count', labels: { operation }, value: upTo }
  }
}

/** One gauge for each thing that a namespace holds. */
function ofNamespaces(namespaces: readonly NamespaceUsage[], { named: apart }: RequestMeter): Metric[] {
  const each = (name: string, help: string, measure: (one: NamespaceUsage) => number | undefined) => {
    const sums = new Map<string, number>()
    for (const one of namespaces) {
      const value = measure(one)
      const label = apart.has(one.name) ? one.name : OTHERS
      if (value !== undefined) sums.set(label, (sums.get(label) ?? 0) + value)
    }
    return gauge(
      `namespace_${name}`,
      help,
      [...sums].map(([namespace, value]) => ({ labels: { namespace }, value })),
    )
  }
  return [
    each('anvils', 'Anvils of a namespace that run.', ({ anvils, holdings }) => (holdings ? anvils : undefined)),
    each('record_bytes', 'Memory of the requests on record.', ({ holdings }) => holdings?.record_bytes),
    each(
      'ledger_bytes',
      'Journal of the ledger; without a data directory, its memory.',
      ({ holdings }) => holdings?.ledger.bytes,
    ),
    each('end_users', 'End users of a namespace.', ({ holdings }) => holdings?.ledger.end_users),
    each('transactions', 'Transactions of a namespace.', ({ holdings }) => holdings?.ledger.transactions),
  ]
}
