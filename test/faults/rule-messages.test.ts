import { expect, test } from 'vitest'
import { checkRule } from '../../src/faults/fault-rule.ts'
import { formatPath, wordsOf } from '../../src/support/issue.ts'

/** What is said about a rule, as `param: detail`. */
function complaints(rule: unknown): string[] {
  const result = checkRule(rule, ['acme', 'globex'])
  return Array.isArray(result) ? result.map((issue) => `${formatPath(issue.path) || 'body'}: ${wordsOf(issue)}`) : []
}

test.each<[unknown, string]>([
  [{ kind: 'drop_conection' }, 'kind: "drop_conection" is not known; did you mean "drop_connection"?'],
  [{ kind: 'earthquake' }, 'kind: "earthquake" is not known; use one of drop_connection, '],
  [{ kind: 'error', in_a_row: 0 }, 'in_a_row: must be a whole number of at least 1; got the number 0'],
  [{ kind: 'error', in_a_row: 'three' }, 'in_a_row: must be a whole number of at least 1; got "three"'],
  [{ kind: 'error', in_row: 3 }, 'in_row: is not a known field; did you mean "in_a_row"?'],
  [{}, 'kind: is missing; add one of drop_connection, '],
  [{ kind: 7 }, 'kind: must be one of drop_connection, '],
  ['revert', 'body: must be a mapping; got "revert"'],
  [{ kind: 'revert', phaze: 'x' }, 'phaze: is not a known field; did you mean "phase"?'],
  [{ kind: 'error', phase: 'after_brodcast' }, 'phase: "after_brodcast" is not known; did you mean "after_broadcast"?'],
  [
    { kind: 'revert', phase: 'after_broadcast' },
    'phase: revert cannot strike at after_broadcast; use one of before_broadcast',
  ],
  [
    { kind: 'error', match: { operation: 'deposits' } },
    'match.operation: "deposits" is not known; did you mean "deposit"?',
  ],
  [
    { kind: 'error', match: { opration: 'deposit' } },
    'match.opration: is not a known field; did you mean "operation"?',
  ],
  [{ kind: 'error', match: { tenant: 'acmee' } }, 'match.tenant: "acmee" is not known; did you mean "acme"?'],
  [
    { kind: 'revert', match: { operation: 'list_pools' } },
    'match.operation: revert can never strike list_pools; use one of deposit, withdraw',
  ],
  [
    { kind: 'expired_cursor', match: { operation: 'deposit' } },
    'match.operation: expired_cursor can never strike deposit; use one of list_pools, list_portfolios, list_transactions',
  ],
  [
    { kind: 'short_lived_token', match: { operation: 'deposit' } },
    'match.operation: short_lived_token can never strike deposit; use one of token',
  ],
  [
    { kind: 'error', phase: 'after_broadcast', match: { operation: 'list_pools' } },
    'match.operation: error can never strike list_pools at after_broadcast; use one of deposit, withdraw',
  ],
  [
    { kind: 'bad_signature', match: { operation: 'token' } },
    'match.operation: bad_signature with {"token":"user"} can never strike token; use one of create_portfolio,',
  ],
  [
    { kind: 'error', match: { operation: 'token', external_id: 'alice' } },
    'match.external_id: token has no external_id in its path;',
  ],
  [
    { kind: 'error', match: { operation: 'token', end_user: 2 } },
    'match.end_user: token has no external_id in its path; leave it out, or use create_portfolio,',
  ],
  [
    { kind: 'error', match: { operation: 'deposit', external_id: 'alice', end_user: 2 } },
    'match.end_user: 2 is given beside external_id "alice"; give one of the two',
  ],
  [{ kind: 'error', match: { ordinal: 3 } }, 'match.ordinal: 3 is given without an operation; say of which operation'],
  [
    { kind: 'error', match: { operation: 'deposit', ordinal: 0 } },
    'match.ordinal: must be a whole number of at least 1; got the number 0',
  ],
  [
    { kind: 'error', match: { operation: 'deposit', ordinal: 1.5 } },
    'match.ordinal: must be a whole number of at least 1; got the number 1.5',
  ],
  [
    { kind: 'error', match: { operation: 'deposit', end_user: '2' } },
    'match.end_user: must be a whole number of at least 1; got "2"; remove the quotes: 2',
  ],
  [{ kind: 'error', times: 0 }, 'times: must be a whole number of at least 1; got the number 0'],
  [{ kind: 'error', times: 'twice' }, 'times: must be a whole number of at least 1 or "always"; got "twice"'],
  [{ kind: 'error', skip: -1 }, 'skip: must be a whole number of at least 0; got the number -1'],
  [{ kind: 'error', skip: '2' }, 'skip: must be a whole number of at least 0; got "2"; remove the quotes: 2'],
  [{ kind: 'error', probability: 2 }, 'probability: must be a number from 0 to 1; got the number 2'],
  [{ kind: 'error', with: [] }, 'with: must be a mapping; got []'],
  [{ kind: 'error', with: { cod: 'not_found' } }, 'with.cod: is not a known field; did you mean "code"?'],
  [{ kind: 'error', with: { code: 'not_fund' } }, 'with.code: "not_fund" is not known; did you mean "not_found"?'],
  [{ kind: 'error', with: { status: 418 } }, 'with.status: must be one of 429, 500, 502, 503, 504; got the number 418'],
  [{ kind: 'error', with: { code: 'not_found', status: 503 } }, 'with.status: 503 is given beside code "not_found"'],
  [{ kind: 'revert', with: { hard: true } }, 'with.hard: is not a known field; there is none to choose from'],
  [JSON.parse('{"kind":"revert","with":{"__proto__":1}}'), 'with.__proto__: is not a known field'],
  [{ kind: 'latency' }, 'with.delay: is missing; give delay, bytes_per_second or both'],
  [{ kind: 'latency', with: { delay: 2 } }, 'with.delay: must be a duration such as "2s" or "1s-3s"; got the number 2'],
  [{ kind: 'latency', with: { delay: 'soon' } }, 'with.delay: "soon" is not a duration; write 0, 250ms, 2s'],
  [{ kind: 'latency', with: { delay: '3s-1s' } }, 'with.delay: "3s-1s" ends before it begins'],
  [
    { kind: 'latency', phase: 'on_request', with: { bytes_per_second: 9 } },
    'with.bytes_per_second: 9 is given at on_request; the body is sent in during_response only',
  ],
  [
    { kind: 'drop_connection', with: { how: 'slowly' } },
    'with.how: "slowly" is not known; use one of reset, close, truncate',
  ],
  [
    { kind: 'drop_connection', with: { bytes: 3 } },
    'with.bytes: 3 is given with how "reset"; bytes goes with how "truncate" only',
  ],
])('%j is refused: %s', (rule, message) => {
  expect(complaints(rule)).toEqual([expect.stringContaining(message)])
})

test('every parameter at fault is named', () => {
  const wrong = complaints({ kind: 'error', skip: -1, with: 1, match: { tenant: 3, path: '/' } })
  expect(wrong.map((one) => one.split(':')[0]).sort()).toEqual(['match.path', 'match.tenant', 'skip', 'with'])
})
