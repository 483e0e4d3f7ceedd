import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Usage } from '../../src/control/contract.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { metricsText } from '../../src/support/prometheus-text.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

const TOKEN = 'control-token'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox({ controlToken: TOKEN })
})
afterAll(() => sandbox.stop())

const ask = (path: string, headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }) =>
  fetch(new URL(`/_sandbox/${path}`, sandbox.baseUrl), { headers })
const usage = async (): Promise<Usage> => (await ask('usage')).json() as Promise<Usage>
const of = ({ namespaces }: Usage, name: string | undefined) => namespaces.find((one) => one.name === name)
const metrics = async () => (await ask('metrics')).text()

/** A sample of the metrics: its value by its name and labels, as they are written. */
const sampleOf = (text: string, series: string) =>
  text.split('\n').flatMap((line) => (line.startsWith(`${series} `) ? [Number(line.slice(series.length + 1))] : []))[0]

/** A parser of Prometheus's own people. */
const PYTHON = '/usr/bin/python3'
const PARSER = 'import sys; from prometheus_client.parser import text_string_to_metric_families as parse\n'
const READ = `import json
print(json.dumps([[f.name, f.documentation, f.type, [[s.name, s.labels, s.value] for s in f.samples]] for f in parse(sys.stdin.read())]))`
const canParse = spawnSync(PYTHON, ['-c', PARSER]).status === 0

type Family = [name: string, help: string, type: string, samples: [string, Record<string, string>, number][]]

function parsed(text: string): Family[] {
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', PARSER + READ], { input: text, encoding: 'utf8' })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

describe('usage', () => {
  test('tells what each namespace uses: what it was asked and how that ended, its ledger, its Anvils', async () => {
    await using mine = await sandbox.namespaces.create()
    const before = await usage()
    expect(of(before, mine.namespace)).toMatchObject({ requests: { total: 0 }, last_request_at: null, anvils: 0 })
    const acme = new Partner(mine)
    const portfolio = await acme.open('erin')
    expect((await acme.deposit('erin', portfolio, '1000')).status).toBe(200)
    expect((await acme.get('end_users/nobody/portfolios')).status).toBe(404)
    await mine.faults.add({ kind: 'drop_connection', match: { operation: 'list_pools' } })
    await expect(acme.get('pools')).rejects.toThrow()
    const after = await usage()
    const [was, is] = [of(before, mine.namespace)!, of(after, mine.namespace)!]
    const ledger = is.holdings!.ledger
    // The token, the pools, the end user, the portfolio and the deposit were answered well.
    expect(is.requests).toEqual({ total: 7, by_outcome: { '2xx': 5, '3xx': 0, '4xx': 1, '5xx': 0, none: 1 } })
    expect(Date.parse(is.last_request_at!)).toBeGreaterThanOrEqual(Date.parse(is.created_at!))
    expect(is).toMatchObject({ age_seconds: expect.any(Number), anvils: 1 })
    expect(ledger.end_users).toBe(was.holdings!.ledger.end_users + 1)
    expect(ledger.portfolios).toBe(was.holdings!.ledger.portfolios + 1)
    expect(ledger.transactions).toBe(was.holdings!.ledger.transactions + 1)
    expect(ledger.bytes_of).toBe('memory')
    expect(ledger.bytes).toBeGreaterThan(was.holdings!.ledger.bytes)
    expect(is.holdings!.record_bytes).toBeGreaterThan(was.holdings!.record_bytes)
    expect(of(after, 'default')!.requests).toEqual(of(before, 'default')!.requests)
    expect(after).toMatchObject({
      namespace_count: { total: 2, open: 2, limit: expect.any(Number) },
      anvils: { running: expect.any(Number), limit: expect.any(Number) },
      requests: { total: before.requests.total + 7 },
    })
    expect(after.memory.resident_bytes).toBeGreaterThan(after.memory.heap_used_bytes)
  })

  test('a reset, and a deletion of its record, take back nothing that was counted', async () => {
    await using mine = await sandbox.namespaces.create()
    await new Partner(mine).get('pools')
    await mine.requests.clear()
    await mine.reset()
    expect(of(await usage(), mine.namespace)!.requests.total).toBe(2)
  })

  test('is for those who have the control token', async () => {
    for (const path of ['usage', 'metrics']) expect((await ask(path, {})).status).toBe(401)
  })
})

test('without a record, requests are counted all the same', async () => {
  await using silent = await testSandbox({ recordExchanges: 0 })
  await new Partner(silent).get('pools')
  const answer = await fetch(new URL('/_sandbox/usage', silent.baseUrl))
  const { namespaces } = (await answer.json()) as Usage
  expect(namespaces[0]).toMatchObject({ requests: { by_outcome: { '2xx': 2 } }, holdings: { record_bytes: 0 } })
  expect(namespaces[0]!.last_request_at).not.toBeNull()
})

describe('metrics', () => {
  test('are text of Prometheus, by namespace, operation and status', async () => {
    await using mine = await sandbox.namespaces.create({ name: 'counted' })
    await new Partner(mine).get('pools')
    const answer = await ask('metrics')
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await answer.text()
    const series = (labels: string) => sampleOf(text, `yield_sandbox_requests_total{namespace="counted",${labels}}`)
    expect(series('operation="list_pools",status="2xx"')).toBe(1)
    expect(series('operation="token",status="2xx"')).toBe(1)
    expect(series('operation="deposit",status="2xx"')).toBeUndefined()
    expect(sampleOf(text, 'yield_sandbox_namespace_anvils{namespace="counted"}')).toBe(1)
    expect(sampleOf(text, 'yield_sandbox_namespaces')).toBe(2)
  })

  test('lose the series of a deleted namespace, and no latency', async () => {
    const mine = await sandbox.namespaces.create({ name: 'short' })
    await new Partner(mine).get('pools')
    const lengths = 'yield_sandbox_request_duration_seconds_count{operation="list_pools"}'
    const before = await metrics()
    expect(before).toContain('namespace="short"')
    await mine.stop()
    const after = await metrics()
    expect(after).not.toContain('namespace="short"')
    expect(sampleOf(after, lengths)).toBe(sampleOf(before, lengths))
  })

  test.skipIf(!canParse)('are what a parser of Prometheus reads, histograms included', async () => {
    await new Partner(sandbox).get('pools')
    const families = parsed(await metrics())
    for (const [name, help, type, samples] of families) {
      expect(name).toMatch(/^yield_sandbox_[a-z_]+$/)
      expect(help).toMatch(/\.$/)
      expect(['counter', 'gauge', 'histogram']).toContain(type)
      expect(samples.length).toBeGreaterThan(0)
      // The parser leaves out the ending that the name of a counter must have.
      if (type === 'counter') expect(samples[0]![0]).toBe(`${name}_total`)
    }
    const latencies = families.find(([name]) => name === 'yield_sandbox_request_duration_seconds')![3]
    const mine = latencies.filter(([, { operation }]) => operation === 'list_pools')
    const buckets = mine.filter(([name]) => name.endsWith('_bucket'))
    const upTo = buckets.map(([, , value]) => value)
    expect(upTo).toEqual([...upTo].sort((a, b) => a - b))
    expect(buckets.at(-1)![1]).toMatchObject({ le: '+Inf' })
    expect(mine.find(([name]) => name.endsWith('_count'))![2]).toBe(upTo.at(-1))
  })

  test.skipIf(!canParse)('have labels and helps that come back as they were, whatever is in them', () => {
    const odd = 'a "b" \\ c\nd \\n e{}=,'
    const text = metricsText([
      { name: 'm', help: 'x\\y\nz', type: 'gauge', series: [{ labels: { l: odd }, value: 1.5 }] },
    ])
    expect(parsed(text)).toEqual([['m', 'x\\y\nz', 'gauge', [['m', { l: odd }, 1.5]]]])
  })
})

test.runIf(!canParse)(
  'the metrics were not held against a parser: python3-prometheus-client is not installed',
  () => {},
)
