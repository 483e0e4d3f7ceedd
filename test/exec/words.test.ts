import { describe, expect, test } from 'vitest'
import { commandEnvironment, parseRename } from '../../src/exec/command-environment.ts'
import { readFault } from '../../src/exec/exec.ts'
import { reportFile } from '../../src/exec/report-files.ts'
import { mergedReport } from '../../src/verdict/report.ts'
import { reportOf } from './report.ts'

describe('--fault', () => {
  test.each([
    ['revert', { kind: 'revert' }],
    [
      'drop_connection; phase=after_broadcast; operation=deposit; external_id=42; how=close',
      {
        kind: 'drop_connection',
        phase: 'after_broadcast',
        match: { operation: 'deposit', external_id: '42' },
        with: { how: 'close' },
      },
    ],
    [
      'drop_connection; phase=after_broadcast; operation=deposit; end_user=1; ordinal=3',
      {
        kind: 'drop_connection',
        phase: 'after_broadcast',
        match: { operation: 'deposit', end_user: 1, ordinal: 3 },
      },
    ],
    [
      'error; status=503; skip=2; times=always; probability=0.5; tenant=acme',
      { kind: 'error', skip: 2, times: 'always', probability: 0.5, match: { tenant: 'acme' }, with: { status: 503 } },
    ],
  ])('%s', (text, rule) => {
    expect(readFault(text)).toEqual(rule)
  })

  test.each([
    [
      'drop_conection',
      /--fault "drop_conection": kind: "drop_conection" is not known; did you mean "drop_connection"\?/,
    ],
    ['drop_connection; operation=depositt', /match\.operation: "depositt" is not known; did you mean "deposit"\?/],
    ['drop_connection; phase=after_lunch', /phase: "after_lunch" is not known/],
    ['drop_connection; hwo=close', /with\.hwo: is not a known field; did you mean "how"\?/],
    ['drop_connection; times=0', /times: must be/],
    ['revert; operation=deposit; ordinal=third', /match\.ordinal: must be a whole number of at least 1; got "third"/],
    ['revert; operation=deposit; end_user=', /match\.end_user: must be a whole number of at least 1; got ""/],
    ['', /--fault "": kind: /],
  ])('%j is refused with what to write', (text, message) => {
    expect(() => readFault(text)).toThrow(message)
  })
})

describe('--env', () => {
  test('names a variable again', () => {
    expect(parseRename('API_URL=YIELD_BASE_URL')).toEqual({ theirs: 'API_URL', ours: 'YIELD_BASE_URL' })
  })

  test.each([
    ['API_URL', /must be THEIR_NAME=YIELD_NAME, such as/],
    ['=YIELD_BASE_URL', /must be THEIR_NAME=YIELD_NAME/],
    ['A B=YIELD_BASE_URL', /must be THEIR_NAME=YIELD_NAME/],
    ['API_URL=YIELD_BAS_URL', /"YIELD_BAS_URL" is not known; did you mean "YIELD_BASE_URL"\?/],
    ['API_URL=toString', /"toString" is not known/],
  ])('%j is refused with what to write', (text, message) => {
    expect(() => parseRename(text)).toThrow(message)
  })
})

describe('the environment of a command', () => {
  const tenant = {
    slug: 'acme',
    tenant_id: 't',
    directory_id: 't',
    client_id: 'c',
    client_secret: 's',
    issuer: 'https://acme.example',
    kid: 'acme-1',
    private_key_pem: 'PEM',
    end_users: ['alice', 'bob'],
  }
  const credentials = {
    namespace: 'default',
    base_url: 'http://127.0.0.1:1/live',
    auth_url: 'http://127.0.0.1:1/oauth2/token',
    control_url: 'http://127.0.0.1:1/_sandbox',
    rpc_urls: { '31337': 'http://127.0.0.1:1/rpc/31337' },
    audience: 'api://x',
    scope: 'api://x/.default',
    seed: 7,
    tenants: [tenant],
  }

  test("is the caller's, and where the sandbox is", () => {
    const renames = [parseRename('API_URL=YIELD_BASE_URL')]
    const caller = { PATH: '/bin', YIELD_BASE_URL: 'http://elsewhere', YIELD_SANDBOX_NAMESPACE: 'other' }
    expect(commandEnvironment(caller, credentials, renames)).toEqual({
      PATH: '/bin',
      YIELD_BASE_URL: 'http://127.0.0.1:1/live',
      YIELD_AUTH_URL: 'http://127.0.0.1:1/oauth2/token',
      YIELD_CLIENT_ID: 'c',
      YIELD_CLIENT_SECRET: 's',
      YIELD_SCOPE: 'api://x/.default',
      YIELD_AUDIENCE: 'api://x',
      YIELD_ISSUER: 'https://acme.example',
      YIELD_KEY_ID: 'acme-1',
      YIELD_PRIVATE_KEY_PEM: 'PEM',
      YIELD_EXTERNAL_ID: 'alice',
      YIELD_RPC_URL: 'http://127.0.0.1:1/rpc/31337',
      YIELD_CONTROL_URL: 'http://127.0.0.1:1/_sandbox',
      YIELD_SANDBOX_URL: 'http://127.0.0.1:1',
      API_URL: 'http://127.0.0.1:1/live',
    })
  })

  test('leaves out what the fixture does not know, though the caller has it', () => {
    const caller = { YIELD_PRIVATE_KEY_PEM: 'old', YIELD_EXTERNAL_ID: 'old' }
    const ownKey = { ...tenant, private_key_pem: null, end_users: [] }
    const env = commandEnvironment(caller, { ...credentials, tenants: [ownKey] }, [])
    expect(env).not.toHaveProperty('YIELD_PRIVATE_KEY_PEM')
    expect(env).not.toHaveProperty('YIELD_EXTERNAL_ID')
    expect(env).toHaveProperty('YIELD_KEY_ID', 'acme-1')
  })
})

describe('--report', () => {
  test.each([
    ['report.jsn', /"report\.jsn".*did you mean "\.json"\?/],
    ['report', /"report".*use one of \.json, /],
  ])('%j is refused with what to write', (path, message) => {
    expect(() => reportFile(path)).toThrow(message)
  })
})

describe('several reports in one', () => {
  test('have the gravest verdict, the sums, and all of them', () => {
    const reports = [
      reportOf('passed', { 'retry-after': 'passed' }, { scenario: 'rate-limited' }),
      reportOf('failed', { 'retry-after': 'not_exercised', 'polling-pace': 'failed' }, { scenario: 'dropped-deposit' }),
    ]
    expect(mergedReport(reports)).toEqual({
      verdict: 'failed',
      summary: '1 of 2 scenarios passed; 1 failed: dropped-deposit.',
      headline: 'Money of dropped-deposit.',
      proved: 1,
      contradicted: 1,
      unproved: 1,
      reports,
    })
  })

  test('one stays as it is', () => {
    const report = reportOf('passed')
    expect(mergedReport([report])).toBe(report)
  })
})
