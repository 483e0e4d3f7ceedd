import { Ajv } from 'ajv'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { describeKinds } from '../../src/faults/describe-kinds.ts'
import { checkRule } from '../../src/faults/fault-rule.ts'
import { KINDS } from '../../src/faults/kinds/index.ts'
import { MOMENTS } from '../../src/faults/phase.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox()
})
afterAll(() => sandbox.stop())
afterEach(() => sandbox.faults.clear())

async function post(path: string, body: unknown) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${sandbox.baseUrl}/_sandbox/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into bodies of every shape
  return { status: response.status, body: (await response.json()) as any }
}

const described = describeKinds()
const ajv = new Ajv({ strict: true, allowUnionTypes: true })

test('GET fault_kinds lists every kind, as it is described', async () => {
  const listed = await (await fetch(`${sandbox.baseUrl}/_sandbox/fault_kinds`)).json()
  expect(listed).toEqual(JSON.parse(JSON.stringify(described)))
  expect(described.map(({ kind }) => kind)).toEqual(KINDS.map(({ kind }) => kind))
})

describe.each(described)('$kind', ({ kind, explanation, group, phases, operations, with: schema }) => {
  test('is in a group, and its explanation is a sentence for valid parameters', () => {
    expect(['connection', 'answer', 'chain', 'tokens', 'lists']).toContain(group)
    expect(explanation).toMatch(/^[A-Z].*\.$/)
    expect(explanation).not.toMatch(/undefined|null|NaN|\[object/)
  })

  test('says at each phase when it strikes', () => {
    const [example = {}] = (schema.examples ?? []) as object[]
    for (const phase of phases) {
      const rule = checkRule(
        {
          kind,
          phase,
          with: { ...example, ...(group === 'chain' && 'pool' in Object(schema.properties) && { pool: 'p' }) },
        },
        [],
      )
      if (Array.isArray(rule)) throw new Error(JSON.stringify(rule))
      expect(rule.kind.explain(rule.with, MOMENTS[rule.phase])).toContain(` ${MOMENTS[rule.phase]}`)
    }
  })

  test('has plain JSON Schema for its parameters, with a description of each, which its example fits', () => {
    const properties = Object.values(schema.properties as Record<string, object>)
    for (const property of properties) expect(property).toMatchObject({ description: expect.stringMatching(/.\.?$/) })
    const fits = ajv.compile(JSON.parse(JSON.stringify(schema)))
    const [example = {}] = (schema.examples ?? []) as object[]
    expect(fits(example)).toBe(true)
    expect(fits({ ...example, no_such_parameter: 1 })).toBe(false)
  })

  test('can strike the operations that are listed, and no other', () => {
    const { operations: own } = KINDS.find((one) => one.kind === kind)!
    if (typeof own !== 'function') expect(operations).toEqual([...own])
    expect(operations.length).toBeGreaterThan(0)
  })
})

test('operations are those of every choice of parameters', () => {
  const of = (name: string) => described.find(({ kind }) => kind === name)!.operations
  expect(of('bad_signature')).toContain('token')
  expect(of('bad_signature')).toContain('list_pools')
  expect(of('unknown_values')).toEqual(expect.arrayContaining(['list_transactions', 'deposit']))
})

test('a parameter with a default may be left out, and a choice is an enum', () => {
  const { properties, required } = described.find(({ kind }) => kind === 'drop_connection')!.with
  expect(properties).toMatchObject({ how: { type: 'string', enum: ['reset', 'close', 'truncate'], default: 'reset' } })
  expect(required).toBeUndefined()
  expect(described.find(({ kind }) => kind === 'apy_change')!.with.required).toEqual(['apy'])
})

describe('a preview', () => {
  const DROP = { kind: 'drop_connection', phase: 'after_broadcast' }

  test('says what a rule would do, when and to what, and puts nothing in force', async () => {
    const { status, body } = await post('faults?preview=1', DROP)
    expect([status, body]).toEqual([
      200,
      [
        {
          ...DROP,
          times: 1,
          explanation: 'The connection is reset once the transaction is out.',
          operations: ['deposit', 'withdraw'],
        },
      ],
    ])
    expect(await sandbox.faults.list()).toEqual([])
    expect(await sandbox.faults.add(DROP as never)).toMatchObject([{ id: 'fault-1' }])
  })

  test('says of several rules in their order', async () => {
    const { body } = await post('faults?preview=1', [{ kind: 'hang' }, { kind: 'stuck', times: 'always' }])
    expect(body).toMatchObject([
      { kind: 'hang', phase: 'during_response', times: 1 },
      { kind: 'stuck', phase: 'after_broadcast', times: 'always' },
    ])
  })

  test.each([
    { kind: 'hangs' },
    { kind: 'error', with: { code: 'x' } },
    [{ kind: 'hang' }, { kind: 'latency' }],
    7,
    [],
  ])('of %j is refused as the rule itself', async (rules) => {
    const { body: preview, status } = await post('faults?preview=1', rules)
    const real = await post('faults', rules)
    const said = ({ status: _, detail, errors, code }: Record<string, unknown>) => ({ detail, errors, code })
    if (Array.isArray(preview)) expect([preview, real.body]).toEqual([[], []])
    else expect([status, said(preview)]).toEqual([real.status, said(real.body)])
  })

  test.each(['preview=yes', 'preview=', 'preview=1&preview=1', 'previw=1'])(
    'is not asked for by %s, nor is anything put in force',
    async (query) => {
      expect(await post(`faults?${query}`, DROP)).toMatchObject({ status: 400, body: { code: 'validation_error' } })
      expect(await sandbox.faults.list()).toEqual([])
    },
  )

  test('preview=0 is none', async () => {
    expect((await post('faults?preview=0', DROP)).status).toBe(201)
  })
})

test('a rule in force says how often it strikes, also if nobody said', async () => {
  await sandbox.faults.add({ kind: 'hang' }, { kind: 'hang', times: 3 }, { kind: 'hang', times: 'always' })
  expect((await sandbox.faults.list()).map(({ times }) => times)).toEqual([1, 3, 'always'])
})
