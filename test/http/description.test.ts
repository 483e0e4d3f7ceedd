import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ERRORS } from '../../src/domain/errors.ts'
import { MANIFEST } from '../../src/fidelity/manifest.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import type { DescribedOperation, OpenApiDocument } from './described-answers.ts'

type Json = Record<string, unknown>

const ROWS = new Map(MANIFEST.map(({ id, kind }) => [id, kind]))

/** Every setting as it is not by default. */
const SWITCHED = {
  name: 'Acme',
  protocols: ['lend', 'vault'],
  audience: 'api://acme',
  error_body: 'code_only',
  end_user_jwt: 'required',
  transfer_status: 201,
  idempotency_in_flight: 'conflict',
  idp_token_lifetime: 120,
}

let sandbox: SandboxHandle
let switched: SandboxHandle
const documents: Record<string, OpenApiDocument> = {}
const documentOf = (name: string): OpenApiDocument => documents[name]!

beforeAll(async () => {
  sandbox = await testSandbox()
  switched = await sandboxWith((fixture) => {
    const named = { aave: 'lend', morpho: 'vault' } as Record<string, string>
    fixture.service = SWITCHED as never
    for (const pool of fixture.pools) pool.protocol = named[pool.protocol]!
  })
  const read = async ({ baseUrl }: SandboxHandle) =>
    (await (await fetch(`${baseUrl}/openapi.json`)).json()) as OpenApiDocument
  documents.default = await read(sandbox)
  documents.switched = await read(switched)
})
afterAll(() => Promise.all([sandbox.stop(), switched.stop()]))

/** Every object in a part of the document, with where it is and what it lies in, the nearest last. */
function* objectsIn(part: unknown, path: string[] = [], around: Json[] = []): Generator<[Json, string[], Json[]]> {
  if (part === null || typeof part !== 'object') return
  if (!Array.isArray(part)) yield [part as Json, path, around]
  for (const [name, member] of Object.entries(part)) {
    if (['example', 'default', 'enum', 'value'].includes(name)) continue
    yield* objectsIn(member, [...path, name], Array.isArray(part) ? around : [...around, part as Json])
  }
}

/** Every schema, parameter, header and answer below /v1/ and in the components, or of everything. */
const objectsOf = (name: string) => [...objectsIn(documentOf(name))]

const operationsOf = (name: string): [id: string, path: string, operation: DescribedOperation][] =>
  Object.entries(documentOf(name).paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation): [string, string, DescribedOperation] => [
      operation.operationId,
      path,
      operation,
    ]),
  )

describe.each(['default', 'switched'])('the description with the settings %s', (name) => {
  test('every schema of a body has a name that a type can have', () => {
    const { schemas } = documentOf(name).components
    expect(Object.keys(schemas).filter((schema) => !/^[A-Z][A-Za-z]+$/.test(schema))).toEqual([])
    const nameless = operationsOf(name).flatMap(([id, , { requestBody, responses }]) => {
      const bodies = [requestBody, ...Object.values(responses)].flatMap((body) => Object.values(body?.content ?? {}))
      return bodies.filter(({ schema }) => !isNamed(schema)).map(({ schema }) => `${id}: ${JSON.stringify(schema)}`)
    })
    expect(nameless).toEqual([])
    expect(
      objectsOf(name).filter(
        ([part]) =>
          'allOf' in part || 'x-name' in part || ('title' in part && typeof part.title === 'string' && 'type' in part),
      ),
    ).toEqual([])
  })

  test('words of answers are open lists, but for those the specification closes', () => {
    const { schemas } = documentOf(name).components
    const answered = ['ErrorCode', 'OAuthErrorCode', 'TransactionType']
    for (const schema of answered) {
      expect(schemas[schema]!.anyOf).toEqual([{ type: 'string', enum: expect.any(Array) }, { type: 'string' }])
    }
    const reachable = operationsOf(name)
      .filter(([, path]) => !path.startsWith('/_sandbox'))
      .flatMap(([, , { responses }]) => [...objectsBehind(name, responses)])
    const closed = reachable.filter(([part, , around]) => Array.isArray(part.enum) && !around.at(-1)?.anyOf)
    expect(new Set(closed.map(([part]) => JSON.stringify(part.enum)))).toEqual(
      new Set([JSON.stringify(name === 'default' ? ['aave', 'morpho'] : SWITCHED.protocols)]),
    )
  })

  test('formats are those that everybody knows, patterns those that every language reads', () => {
    const all = objectsOf(name)
    expect(
      new Set(all.flatMap(([{ format, type }]) => (type === 'string' && format !== undefined ? [format] : []))),
    ).toEqual(new Set(['date-time']))
    const patterns = all.flatMap(([{ pattern }]) => (typeof pattern === 'string' ? [pattern] : []))
    expect(patterns.length).toBeGreaterThan(5)
    for (const pattern of patterns) expect(() => new RegExp(pattern, 'u')).not.toThrow()
  })

  test('every example is as its schema says', () => {
    const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } })
    ajv.addSchema({ ...(documentOf(name) as object), $id: 'openapi' })
    // Many operations have the same schema, such as that of problems: it is compiled once.
    const validators = new Map<string, ValidateFunction>()
    const check = (schema: unknown, example: unknown) => {
      const here = JSON.stringify(schema).replaceAll('"#/', '"openapi#/')
      const validate = validators.get(here) ?? ajv.compile(JSON.parse(here))
      validators.set(here, validate)
      return validate(example) ? [] : [`${JSON.stringify(example)}: ${ajv.errorsText(validate.errors)}`]
    }
    const wrong = operationsOf(name).flatMap(([, , { parameters, requestBody, responses }]) => [
      ...parameters.flatMap(({ schema, example }) => (example === undefined ? [] : check(schema, example))),
      ...[requestBody, ...Object.values(responses)].flatMap((body) =>
        Object.values(body?.content ?? {}).flatMap(({ schema, example, examples }) => [
          ...(example === undefined ? [] : check(schema, example)),
          ...Object.keys((examples as Json) ?? {}).flatMap((code) =>
            check(schema, documentOf(name).components.examples[code]!.value),
          ),
        ]),
      ),
    ])
    expect(wrong).toEqual([])
  })

  test('examples of a market are the market, never the token', () => {
    const examplesOf = (member: string) =>
      objectsOf(name).flatMap(([{ properties }]) => {
        const schema = (properties as Record<string, Json> | undefined)?.[member]
        return (schema?.examples as string[] | undefined) ?? []
      })
    const [market] = new Set(examplesOf('market_address'))
    expect(new Set(examplesOf('market_address')).size).toBe(1)
    expect(examplesOf('token_address')).not.toContain(market)
    expect(examplesOf('expires_in')).toContain(name === 'switched' ? 120 : 3600)
  })

  test('every mark is the specification, or the id of a row that is no such rule', () => {
    const marks = objectsOf(name).flatMap(([part]) => [part['x-source'] ?? [], part['x-assumption'] ?? []].flat())
    const ids = marks.flatMap((mark) => String(mark).split(', '))
    expect(ids.length).toBeGreaterThan(300)
    expect(
      new Set(ids.filter((id) => id !== 'specification' && !['assumed', 'absent'].includes(ROWS.get(id)!))),
    ).toEqual(new Set())
  })

  test('every status, code, header, bound and list of words is marked, itself or by what it is part of', () => {
    const isMarked = (part: Json | undefined) => part !== undefined && ('x-source' in part || 'x-assumption' in part)
    const { paths, components } = documentOf(name)
    const unmarked: string[] = []
    for (const [id, path, { responses, parameters }] of operationsOf(name)) {
      const whole =
        !path.startsWith('/v1/') && isMarked(operationsOf(name).find(([other]) => other === id)![2] as never)
      for (const [status, response] of Object.entries(responses))
        if (!isMarked(response) && !whole) unmarked.push(`${id} ${status}`)
      for (const parameter of parameters)
        if (!isMarked(parameter.schema) && isBound(parameter.schema) && !whole) unmarked.push(`${id} ${parameter.name}`)
    }
    for (const part of ['headers', 'examples'] as const) {
      for (const [key, value] of Object.entries(components[part])) if (!isMarked(value)) unmarked.push(`${part} ${key}`)
    }
    for (const [part, where, around] of objectsIn(components.schemas)) {
      if (isBound(part) && ![part, ...around].some(isMarked)) unmarked.push(where.join('.'))
    }
    expect(Object.keys(paths).length).toBeGreaterThan(20)
    expect(unmarked).toEqual([])
  })
})

/** Of a schema that narrows what its type lets through. */
const BOUNDS = [
  'enum',
  'const',
  'pattern',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
]
const isBound = (part: Json) =>
  BOUNDS.some((bound) => bound in part && typeof part[bound] !== 'object') || Array.isArray(part.enum)

function isNamed(schema: Json): boolean {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.every(isNamed)
  return schema.type === 'array' ? isNamed(schema.items as Json) : '$ref' in schema
}

/** Every object in a part of the document, and in the schemas it refers to. */
function* objectsBehind(name: string, part: unknown, known = new Set<string>()): Generator<[Json, string[], Json[]]> {
  for (const [found, path, around] of objectsIn(part)) {
    yield [found, path, around]
    const schema = /^#\/components\/schemas\/(\w+)$/.exec(String(found.$ref))?.[1]
    if (schema === undefined || known.has(schema)) continue
    known.add(schema)
    yield* objectsBehind(name, documentOf(name).components.schemas[schema], known)
  }
}

test('every code of the catalogue names a row, exact if the specification has the code', () => {
  const exact = Object.entries(ERRORS).filter(([, { row }]) => ROWS.get(row) === 'exact')
  expect(Object.values(ERRORS).filter(({ row }) => !ROWS.has(row))).toEqual([])
  expect(exact.map(([code, { status }]) => `errors-${status}-${code.replaceAll('_', '-')}`)).toEqual(
    MANIFEST.map(({ id }) => id).filter((id) => /^errors-\d/.test(id)),
  )
})

describe('the examples of requests work when they are tried', () => {
  const tried = [
    'create_end_user',
    'create_portfolio',
    'list_portfolios',
    'deposit',
    'withdraw',
    'list_transactions',
    'list_pools',
    'json_rpc',
    'move_clock',
    'add_faults',
    'clear_faults',
    'start_scenario',
    'stop_scenario',
    'start_own_scenario',
    'stop_scenario',
    'mint_user_token',
    'mint_idp_token',
    'token',
    'tenant_token',
  ]

  test.each(tried)('%s', async (id) => {
    const [, path, { parameters, requestBody }] = operationsOf('default').find(([other]) => other === id)!
    const method = Object.entries(documentOf('default').paths[path]!).find(
      ([, { operationId }]) => operationId === id,
    )![0]
    const given = (place: string) =>
      parameters
        .filter((one) => one.in === place && one.example !== undefined)
        .map(({ name, example }) => [name, String(example)])
    const filled = given('path').reduce((url, [name, value]) => url.replace(`{${name}}`, value!), path)
    const acme = new Partner(sandbox)
    const [type, { example } = {}] = Object.entries(requestBody?.content ?? {})[0] ?? []
    const service = path.startsWith('/v1/')
    const response = await fetch(`${sandbox.baseUrl}${filled}`, {
      method: method.toUpperCase(),
      headers: {
        ...Object.fromEntries(given('header')),
        ...(type !== undefined && { 'content-type': type }),
        ...(service && {
          authorization: `Bearer ${await acme.idpToken()}`,
          'x-user-token': await acme.userToken('alice'),
        }),
      },
      ...(type !== undefined && {
        body: type === 'application/json' ? JSON.stringify(example) : String(new URLSearchParams(example as never)),
      }),
    })
    expect([response.status, await response.text()]).toEqual([
      expect.toSatisfy((status: number) => status < 300),
      expect.anything(),
    ])
  })
})

test('the flow of the client-credentials scheme gives a token', async () => {
  const { flows } = documentOf('default').components.securitySchemes.client_credentials as {
    flows: { clientCredentials: { tokenUrl: string; scopes: Json } }
  }
  const { tokenUrl, scopes } = flows.clientCredentials
  const { client_id, client_secret } = sandbox.tenants[0]!
  const [scope] = Object.keys(scopes)
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope: scope! })
  const url = new URL(tokenUrl, documentOf('default').servers[0]!.url)
  expect((await fetch(url, { method: 'POST', body })).status).toBe(200)
})

test('with a control token, the examples say nothing of what is in the sandbox', async () => {
  const example = (document: OpenApiDocument) =>
    document.paths['/v1/partner/end_users/{external_id}/deposit']!.post!.requestBody!.content['application/json']!
      .example
  await using guarded = await testSandbox({ controlToken: 'secret' })
  const document = (await (await fetch(`${guarded.baseUrl}/openapi.json`)).json()) as OpenApiDocument
  expect(example(document)).toMatchObject({ portfolio_id: 'jar_01JGX0Z5N8Q4R7T2V9W3Y6B1CD' })
  expect(example(documentOf('default'))).not.toEqual(example(document))
})
