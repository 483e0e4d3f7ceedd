import { expect, test } from 'vitest'
import type { FaultRule } from '../../src/control/contract.ts'
import { misuseOf, withReasons } from '../../src/exec/exec.ts'
import type { CommandEnd } from '../../src/exec/run-command.ts'
import type { OperationOutcome } from '../../src/oracle/outcome.ts'
import { reportOf } from './report.ts'

const FAULT: FaultRule = { kind: 'drop_connection', match: { operation: 'deposit' } }
const END: CommandEnd = { code: 0, signal: null, timedOut: false, leftBehind: [] }

const TERMS = { command: ['npm', 'test'], env: {}, timeout: undefined }
const FORGOTTEN = {
  ...{ outcome: 'forgotten', level: 'inconclusive', tenant: null, external_id: null, type: 'deposit' },
  ...{ idempotency_key: null, amount_minor: null, portfolio_id: null, request_ids: [] as string[] },
} as const satisfies Partial<OperationOutcome>

/** What is said of `npm test` that ended so. */
function reasons(
  { end = {}, used = true, otherNamespaces = 0, missed = [] }: Partial<Case> = {},
  terms: Partial<Parameters<typeof misuseOf>[1]> = {},
): string[] {
  const report = reportOf('passed', {}, { used })
  const run = { end: { ...END, ...end }, report, otherNamespaces, missed }
  return misuseOf(run, { ...TERMS, ...terms })
}

interface Case {
  end: Partial<CommandEnd>
  used: boolean
  otherNamespaces: number
  missed: FaultRule[]
}

test('nothing is said of a command that did what it should', () => {
  expect(reasons()).toEqual([])
  expect(reasons({ end: { code: 1 } })).toEqual([])
})

test.each<[string, Partial<Case>, Partial<Parameters<typeof misuseOf>[1]>, string]>([
  [
    'fails and asks nothing',
    { end: { code: 1 }, used: false },
    {},
    'npm ended with code 1 and sent the sandbox no request.',
  ],
  [
    'reads other variables',
    { used: false },
    {},
    'npm sent this sandbox no request, which exec gives it in YIELD_BASE_URL: if your app reads another variable, name it with --env THEIR_NAME=YIELD_BASE_URL.',
  ],
  [
    'talks to another sandbox',
    { used: false },
    { env: { YIELD_SANDBOX_URL: 'http://127.0.0.1:4010' } },
    'npm sent this sandbox no request, and YIELD_SANDBOX_URL in your environment names another one, http://127.0.0.1:4010: let your app take the address from YIELD_BASE_URL, which exec sets.',
  ],
  [
    'uses namespaces of its own',
    { used: false, otherNamespaces: 2 },
    {},
    'npm made 2 namespaces of its own, and requests there are not judged: let it use YIELD_BASE_URL and the credentials that exec gives it.',
  ],
  [
    'ends before the fault strikes',
    { missed: [FAULT] },
    {},
    'The fault drop_connection at deposit never struck: npm ended before a request came that it fits, or took the fault away.',
  ],
  [
    'is killed',
    { end: { code: null, signal: 'SIGKILL' } },
    {},
    'npm was killed by SIGKILL: what it would have done next is not known.',
  ],
  ['takes too long', { end: { code: 0, timedOut: true } }, { timeout: 2000 }, 'npm was not done after 2 s: ended.'],
])('of a command that %s one sentence is said', (_, run, terms, sentence) => {
  expect(reasons(run, terms)).toEqual([sentence])
})

test('nothing is said of a command that was not run, since --before failed', () => {
  const failed = { ...END, code: 5 }
  const run = { before: failed, end: failed, report: reportOf('inconclusive', {}, { used: false }) }
  expect(misuseOf({ ...run, otherNamespaces: 0, missed: [FAULT] }, TERMS)).toEqual([])
})

test('what was forgotten comes first, and a command whose requests are forgotten is not called idle', () => {
  const operation = { ...FORGOTTEN, sentence: 'Nothing is said of 5 requests before a reset of the sandbox.' }
  const report = {
    ...reportOf('inconclusive', {}, { used: false }),
    operations: [operation],
    unmet: [operation.sentence],
  }
  // Whether the fault struck is forgotten as well.
  expect(misuseOf({ end: END, report, otherNamespaces: 0, missed: [FAULT] }, TERMS)).toEqual([])
  const killed = 'npm was killed by SIGKILL: what it would have done next is not known.'
  expect(withReasons(report, [killed])).toMatchObject({
    summary: 'Inconclusive: Nothing is said of 5 requests before a reset of the sandbox (and 1 more reason).',
    unmet: [operation.sentence, killed],
  })
})

test.each<[string, Partial<Case>, Partial<Parameters<typeof misuseOf>[1]>, RegExp]>([
  [
    'is killed before it asks for anything',
    { used: false, end: { code: null, signal: 'SIGKILL' } },
    {},
    /^npm was killed by SIGKILL/,
  ],
  [
    'has an empty address of a sandbox',
    { used: false },
    { env: { YIELD_SANDBOX_URL: '' } },
    /, which exec gives it in YIELD_BASE_URL/,
  ],
  ['makes one namespace', { used: false, otherNamespaces: 1 }, {}, /^npm made a namespace of its own/],
  ['is to meet a fault anywhere', { missed: [{ kind: 'hang' }] }, {}, /^The fault hang never struck/],
])('of a command that %s one sentence is said', (_, run, terms, sentence) => {
  expect(reasons(run, terms)).toEqual([expect.stringMatching(sentence)])
})

test('further reasons are counted, and full stops within one stay', () => {
  const { summary } = withReasons(reportOf('passed'), ['npm was not done after 1.5 s: ended.', 'One.', 'Two.'])
  expect(summary).toBe('Inconclusive: npm was not done after 1.5 s: ended (and 2 more reasons).')
})

test('a report with a reason is not passed, and one that failed stays failed', () => {
  const reason = 'npm was killed by SIGKILL: what it would have done next is not known.'
  const summary = 'Inconclusive: npm was killed by SIGKILL: what it would have done next is not known.'
  expect(withReasons(reportOf('passed'), [reason])).toMatchObject({ verdict: 'inconclusive', summary, unmet: [reason] })
  expect(withReasons(reportOf('failed'), [reason])).toMatchObject({
    verdict: 'failed',
    summary: 'failed.',
    unmet: [reason],
  })
  const idle = reportOf('inconclusive', {}, { unmet: ['No request of the client came.', 'Another.'] })
  expect(withReasons(idle, ['npm sent nothing.'])).toMatchObject({
    summary: 'Inconclusive: npm sent nothing (and 1 more reason).',
    unmet: ['npm sent nothing.', 'Another.'],
  })
  const passed = reportOf('passed')
  expect(withReasons(passed, [])).toBe(passed)
})
