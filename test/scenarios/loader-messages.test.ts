import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadScenario, readScenario, ScenarioError } from '../../src/scenarios/load-scenario.ts'

const directory = mkdtempSync(join(tmpdir(), 'scenarios-'))
afterAll(() => rmSync(directory, { recursive: true }))

const HEAD = 'name: my-own\ndescription: What happens.\n'

/** Loads a file of this content; its refusal without the folder's name. */
async function refusal(content: string): Promise<string> {
  const file = join(directory, 'my.yaml')
  writeFileSync(file, content)
  return messageOf(loadScenario(file))
}

async function messageOf(loading: Promise<unknown>): Promise<string> {
  const error = await loading.then(
    () => undefined,
    (reason) => reason,
  )
  if (!(error instanceof ScenarioError)) throw new Error('a ScenarioError was expected', { cause: error })
  return error.message.replaceAll(`${directory}/`, '')
}

describe('a scenario file that cannot be used is refused with file, line, field, value and what is allowed', () => {
  test.each<[string, string, string | RegExp]>([
    ['nothing in it', '', 'my.yaml: is empty. Fix: begin with a copy of one of the shipped scenarios.'],
    ['no YAML', 'name: [a', /^my\.yaml:1:\d+: is not valid YAML: .* Fix: look for indentation/],
    [
      'no mapping',
      'hello',
      'my.yaml:1:1: must be a mapping with name and description; got "hello". Fix: see docs/scenarios.md.',
    ],
    ['no name', 'description: x', 'my.yaml:1:1 name: is missing. Fix: add it, such as name: "dropped-deposit".'],
    [
      'a name with blanks',
      'name: My own\ndescription: x',
      'my.yaml:1:7 name: must be a name of at most 64 lowercase letters, digits and -; got "My own". Fix: write it like "dropped-deposit".',
    ],
    ['a misspelt field', `${HEAD}fault: []`, 'my.yaml:3:1 fault: is not a known field. Fix: did you mean "faults"?'],
    [
      'a rule that is none',
      `${HEAD}faults: [drop_connection]`,
      'my.yaml:3:10 faults[0]: must be a fault rule such as {kind: drop_connection}; got "drop_connection". Fix: write it like {kind: drop_connection}.',
    ],
    [
      'an unknown kind',
      `${HEAD}faults:\n  - kind: expired_cursor\n  - kind: drop_conection`,
      /^my\.yaml:5:11 faults\[1\]\.kind: "drop_conection" is not known\. Fix: did you mean "drop_connection"\?/,
    ],
    [
      'a rule that spares an operation after no strike at all',
      `${HEAD}faults:\n  - kind: error\n    in_a_row: 0`,
      /^my\.yaml:5:15 faults\[0\]\.in_a_row: must be a whole number of at least 1; got the number 0\. Fix: /,
    ],
    [
      'another end of the command than there is',
      `${HEAD}expect: { command: may-fail }`,
      'my.yaml:3:20 expect.command: "may-fail" is not known. Fix: did you mean "may_fail"?',
    ],
    [
      'no word for the end of the command',
      `${HEAD}expect: { command: 1 }`,
      /^my\.yaml:3:20 expect\.command: .*1.*Fix: /,
    ],
    [
      'an unknown operation',
      `${HEAD}faults:\n  - kind: drop_connection\n    match: { operation: depositt }`,
      /^my\.yaml:5:25 faults\[0\]\.match\.operation: "depositt" is not known\. Fix: did you mean "deposit"\?/,
    ],
    [
      'a phase the kind does not have',
      `${HEAD}faults:\n  - kind: revert\n    phase: on_request`,
      /^my\.yaml:5:12 faults\[0\]\.phase: .*Fix: /,
    ],
    [
      'a parameter the kind does not have',
      `${HEAD}faults:\n  - kind: slow_confirmation\n    with: { dely: 45s }`,
      /^my\.yaml:5:\d+ faults\[0\]\.with\.dely: is not a known field\. Fix: did you mean "delay"\?/,
    ],
    [
      'a number of times out of range',
      `${HEAD}faults:\n  - kind: revert\n    times: 0`,
      /^my\.yaml:5:12 faults\[0\]\.times: .*0.*Fix: /,
    ],
    [
      'a move that is none',
      `${HEAD}clock: [8d]`,
      'my.yaml:3:9 clock[0]: must be a clock move: one of advance, set or freeze, and after; got "8d". Fix: write it like {advance: "8d"}.',
    ],
    [
      'two moves in one',
      `${HEAD}clock: [{ advance: 8d, set: "2030-01-01T00:00:00Z" }]`,
      /^my\.yaml:3:9 clock\[0\]: must be a clock move: one of advance, set or freeze/,
    ],
    [
      'a duration that is none',
      `${HEAD}clock: [{ advance: soon }]`,
      'my.yaml:3:20 clock[0].advance: "soon" is not a duration. Fix: write 250ms, 2s, 10m, 24h or 8d.',
    ],
    [
      'a duration without a unit',
      `${HEAD}clock: [{ advance: 8 }]`,
      'my.yaml:3:20 clock[0].advance: must be a duration such as "2s", "24h" or "8d"; got the number 8. Fix: write it like "8d".',
    ],
    [
      'a way back',
      `${HEAD}clock: [{ advance: -8d }]`,
      'my.yaml:3:20 clock[0].advance: "-8d" is not a duration. Fix: write 250ms, 2s, 10m, 24h or 8d.',
    ],
    [
      'a moment that is none',
      `${HEAD}clock: [{ set: 2030-13-01T00:00:00Z }]`,
      'my.yaml:3:16 clock[0].set: "2030-13-01T00:00:00Z" is not a moment. Fix: write it like "2030-01-01T00:00:00Z".',
    ],
    [
      'after an unknown operation',
      `${HEAD}clock: [{ advance: 8d, after: { operation: list_transaction } }]`,
      /^my\.yaml:3:44 clock\[0\]\.after\.operation: "list_transaction" is not known\. Fix: did you mean "list_transactions"\?$/,
    ],
    [
      'after no operation',
      `${HEAD}clock: [{ freeze: true, after: { times: 2 } }]`,
      /^my\.yaml:3:\d+ clock\[0\]\.after\.operation: is missing\. Fix: /,
    ],
    [
      'an expectation nobody knows',
      `${HEAD}expect: { traffic: { errors: [curser_expired] } }`,
      /^my\.yaml:3:31 expect\.traffic\.errors\[0\]: "curser_expired" is not known\. Fix: did you mean "cursor_expired"\?$/,
    ],
    [
      'no id of a finding',
      `${HEAD}expect: { findings: [retry-aftr] }`,
      'my.yaml:3:22 expect.findings[0]: there is no finding "retry-aftr". Fix: did you mean "retry-after"?',
    ],
    [
      'the id that a finding had before',
      `${HEAD}expect: { findings: [retries-keep-the-key] }`,
      'my.yaml:3:22 expect.findings[0]: the finding "retries-keep-the-key" has a new name. Fix: write "idempotency-key-on-retry".',
    ],
  ])('%s', async (_, content, expected) => {
    const message = await refusal(content)
    expect(message.split('\n')).toHaveLength(1)
    if (typeof expected === 'string') expect(message).toBe(expected)
    else expect(message).toMatch(expected)
  })

  test('everything that is wrong at once, a line for each', async () => {
    const message = await refusal(`${HEAD}faults: [{ kind: revrt }]\nclock: [{ advance: soon }]`)
    expect(message.split('\n').map((line) => line.split(': ', 1)[0])).toEqual([
      'my.yaml:3:18 faults[0].kind',
      'my.yaml:4:20 clock[0].advance',
    ])
  })

  test('a file that is not there', async () => {
    expect(await messageOf(loadScenario(join(directory, 'nope.yaml')))).toBe(
      'nope.yaml: no such file. Fix: check the path.',
    )
  })
})

test('a sound file is read with its defaults, from JSON too; its tenants are left to the sandbox', async () => {
  const rule = { kind: 'drop_connection', match: { tenant: 'somebody' } }
  const file = join(directory, 'my.json')
  writeFileSync(file, JSON.stringify({ name: 'my-own', description: 'x', faults: [rule] }))
  const expected = { name: 'my-own', description: 'x', faults: [rule], clock: [], expect: {} }
  expect(await loadScenario(file)).toEqual(expected)
  expect(await readScenario(expected)).toEqual(expected)
})

test.each([undefined, null, 7, 'x', [], { name: 'x' }])('data that is no scenario is refused: %j', async (data) => {
  await expect(readScenario(data)).rejects.toBeInstanceOf(ScenarioError)
})

test('the documentation shows a scenario that loads', async () => {
  const docs = readFileSync(new URL('../../docs/scenarios.md', import.meta.url), 'utf8')
  const [, example = ''] = /```yaml scenario\n(.*?)```/s.exec(docs) ?? []
  const file = join(directory, 'documented.yaml')
  writeFileSync(file, example)
  expect(await loadScenario(file)).toMatchObject({ name: 'overnight', clock: [{}, {}, {}] })
})
