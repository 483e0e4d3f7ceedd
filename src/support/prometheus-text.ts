/** Media type of {@link metricsText}. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Label values by name. */
export type Labels = Readonly<Record<string, string>>

/** A metric with all its series. */
export interface Metric {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  /** `suffix` follows the metric's name, as a histogram needs. */
  series: Iterable<{ labels?: Labels; value: number; suffix?: string }>
}

/**
 * Metrics in the text format 0.0.4 of Prometheus; those without series are left out. Written here: the usual library, prom-client, brings
 * three packages and a registry that counts, where all counts exist already.
 */
export function metricsText(metrics: Iterable<Metric>): string {
  const lines: string[] = []
  for (const { name, help, type, series } of metrics) {
    const own = [...series].map(({ labels = {}, value, suffix = '' }) => `${name}${suffix}${inBraces(labels)} ${value}`)
    if (own.length > 0) lines.push(`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...own)
  }
  return `${lines.join('\n')}\n`
}

function inBraces(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
