import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { applyBaseline, BaselineError, BaselineSchema, loadBaseline } from '../../src/exec/baseline.ts'
import { reportOf } from './report.ts'

const directory = mkdtempSync(join(tmpdir(), 'baseline-'))
afterAll(() => rmSync(directory, { recursive: true }))

function load(content: string) {
  const file = join(directory, 'baseline.yaml')
  writeFileSync(file, content)
  return loadBaseline(file)
}

describe('a baseline file', () => {
  test('is a list of findings, with a reason and a last day', async () => {
    const content = `
- id: polling-pace
  expires: 2027-03-31
- { id: idempotency-key-on-retry, reason: "mended in release 12" }`
    expect(await load(content)).toEqual([
      { id: 'polling-pace', expires: '2027-03-31' },
      { id: 'idempotency-key-on-retry', reason: 'mended in release 12' },
    ])
    expect(await load('[{"id": "retry-after"}]')).toEqual([{ id: 'retry-after' }])
    expect(await load('[]')).toEqual([])
  })

  test.each<[string, string, RegExp]>([
    ['nothing in it', '', /baseline\.yaml: is empty\. Fix: /],
    ['no list', 'id: polling-pace', /:1:1: must be a list of entries \(id, reason, expires\); got a mapping\. Fix: /],
    [
      'an unknown finding',
      '- id: poling-pace',
      /:1:7 \[0\]\.id: "poling-pace" is not known\. Fix: did you mean "polling-pace"\?/,
    ],
    ['an unknown field', '- id: polling-pace\n  until: 2027-01-01', /:2:3 \[0\]\.until: is not a known field\. Fix: /],
    [
      'no day',
      '- id: polling-pace\n  expires: soon',
      /:2:12 \[0\]\.expires: must be a day such as "2027-01-31"; got "soon"/,
    ],
    [
      'a day that is not there',
      '- id: polling-pace\n  expires: 2027-02-30',
      /:2:12 \[0\]\.expires: "2027-02-30" is no day of the calendar/,
    ],
    [
      'a critical finding without a reason',
      '- id: idempotency-key-on-retry',
      /:1:3 \[0\]: "idempotency-key-on-retry" is of critical impact and has no reason\. Fix: add reason/,
    ],
    ['one of blanks', '- id: idempotency-key-on-retry\n  reason: "  "', /is of critical impact and has no reason/],
    [
      'a finding twice',
      '- id: polling-pace\n- id: polling-pace',
      /:2:7 \[1\]\.id: "polling-pace" is taken by \[0\]\.id\. Fix: /,
    ],
  ])('with %s is refused with file, line and fix', async (_, content, message) => {
    const error = await load(content).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(BaselineError)
    expect((error as Error).message).toMatch(message)
  })

  test('that is not there is refused', async () => {
    await expect(loadBaseline(join(directory, 'none.yaml'))).rejects.toThrow(/none\.yaml: no such file/)
  })
})

describe('a baseline', () => {
  const now = Date.parse('2026-11-22T12:00:00Z')
  const failing = reportOf('failed', { 'polling-pace': 'failed', 'retry-after': 'passed' })

  test('lets a finding fail, and says so in the report', () => {
    const { reports, complaints } = applyBaseline([failing], [{ id: 'polling-pace', reason: 'known' }], now)
    expect(complaints).toEqual([])
    expect(reports[0]).toMatchObject({ verdict: 'passed', summary: expect.stringContaining('1 failure accepted') })
    expect(reports[0]?.findings).toMatchObject([{ outcome: 'failed', accepted: 'known' }, { id: 'retry-after' }])
    expect(reports[0]?.findings[1]).not.toHaveProperty('accepted')
  })

  test('accepts the money that moved by the same requests, and no other', () => {
    const operation = (id: string) => ({
      ...{ outcome: 'paid_twice' as const, level: 'critical' as const, sentence: `${id} was paid twice.` },
      ...{ tenant: 'acme', external_id: 'alice', type: 'deposit' as const, idempotency_key: null },
      ...{ amount_minor: null, portfolio_id: null, request_ids: [id] },
    })
    const findings = failing.findings.map((one) => ({ ...one, request_ids: ['req_1'] }))
    const paid = { ...failing, findings, operations: [operation('req_1')] }
    const verdictOf = (report: typeof paid) =>
      applyBaseline([report], [{ id: 'polling-pace' }], now).reports[0]?.verdict
    expect(verdictOf(paid)).toBe('passed')
    expect(verdictOf({ ...paid, operations: [operation('req_1'), operation('req_2')] })).toBe('failed')
  })

  test('lets no other one fail', () => {
    const report = reportOf('failed', { 'polling-pace': 'failed', 'retry-after': 'failed' })
    const { reports } = applyBaseline([report], [{ id: 'polling-pace' }], now)
    expect(reports[0]).toMatchObject({
      verdict: 'failed',
      summary: expect.stringContaining('The title of retry-after'),
    })
  })

  test('makes nothing proved that was not', () => {
    const report = reportOf(
      'failed',
      { 'polling-pace': 'failed' },
      { unmet: ['The required finding x was not exercised.'] },
    )
    const { reports } = applyBaseline([report], [{ id: 'polling-pace' }], now)
    expect(reports[0]).toMatchObject({ verdict: 'inconclusive', summary: expect.stringContaining('finding x') })
  })

  test('is stale when a finding is proved and fails in no run', () => {
    const passing = reportOf('passed', { 'polling-pace': 'passed' })
    const baseline = [{ id: 'polling-pace' as const }]
    expect(applyBaseline([passing], baseline, now).complaints).toEqual([
      expect.stringMatching(/stale: polling-pace.*remove/),
    ])
    expect(applyBaseline([passing, failing], baseline, now).complaints).toEqual([])
    expect(applyBaseline([reportOf('passed', { 'polling-pace': 'not_exercised' })], baseline, now).complaints).toEqual(
      [],
    )
  })

  test('is stale though another finding fails, and marks none that another run kept', () => {
    expect(applyBaseline([failing], [{ id: 'retry-after' }], now).complaints).toEqual([
      expect.stringMatching(/stale: retry-after/),
    ])
    const kept = reportOf('passed', { 'polling-pace': 'passed' })
    expect(applyBaseline([failing, kept], [{ id: 'polling-pace' }], now).reports[1]).toBe(kept)
    expect(applyBaseline([failing], [], now).reports[0]).toBe(failing)
  })

  test('counts what it accepts, and leaves full stops within a sentence', () => {
    const two = reportOf('failed', { 'polling-pace': 'failed', 'retry-after': 'failed', 'client-timeout': 'failed' })
    two.findings[2]!.title = 'A timeout of 1.5 s is too short.'
    const accepting = (...ids: ('polling-pace' | 'retry-after' | 'client-timeout')[]) =>
      applyBaseline(
        [{ ...two, unmet: ['It took 1.5 s.'] }],
        ids.map((id) => ({ id })),
        now,
      ).reports[0]?.summary
    expect(accepting('polling-pace', 'retry-after')).toBe(
      'Failed: A timeout of 1.5 s is too short; 2 failures accepted by the baseline.',
    )
    expect(accepting('polling-pace', 'retry-after', 'client-timeout')).toBe(
      'Inconclusive: It took 1.5 s; 3 failures accepted by the baseline.',
    )
    const one = reportOf('failed', { 'polling-pace': 'failed', 'retry-after': 'failed' })
    expect(applyBaseline([one], [{ id: 'polling-pace' }], now).reports[0]?.summary).toBe(
      'Failed: The title of retry-after; 1 failure accepted by the baseline.',
    )
  })

  test('holds to the end of its last day', () => {
    const last = Date.parse('2026-11-22T23:59:59.999Z')
    const complaintsAt = (moment: number) =>
      applyBaseline([failing], [{ id: 'polling-pace', expires: '2026-11-22' }], moment).complaints
    expect([complaintsAt(last), complaintsAt(last + 1).length]).toEqual([[], 1])

    const judged = (expires: string) => applyBaseline([failing], [{ id: 'polling-pace', expires }], now)
    expect(judged('2026-11-22')).toMatchObject({ complaints: [], reports: [{ verdict: 'passed' }] })
    expect(judged('2026-11-21')).toMatchObject({
      complaints: [expect.stringContaining('until 2026-11-21')],
      reports: [{ verdict: 'failed' }],
    })
  })
})

test("the editors' schema equals the one that validates (npm run build:schemas writes it)", () => {
  const file = new URL('../../baselines/schema.json', import.meta.url)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...JSON.parse(JSON.stringify(BaselineSchema)),
  })
})
