import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, type Ask, Partner, testNamespace } from '../helpers/partner.ts'

interface Operation {
  security: Record<string, string[]>[]
  parameters?: { name: string; in: string; required?: boolean }[]
  responses: Record<string, unknown>
}

let sandbox: SandboxHandle
let acme: Partner
let paths: Record<string, Record<string, Operation>>
let portfolio: string
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  ;({ paths } = (await (await fetch(`${sandbox.baseUrl}/openapi.json`)).json()) as { paths: typeof paths })
  portfolio = await acme.open('alice')
  await acme.deposit('alice', portfolio, '1000000')
})
afterAll(() => sandbox.stop())

type Method = 'GET' | 'POST'
interface Row {
  number: number
  method: Method
  path: string
  credentials: string[]
  status: number
}

/** The table of the specification. Endpoint 2's credentials are assumption `create-end-user`. */
const TABLE: Row[] = [
  row(1, 'GET', '/v1/partner/pools', 200),
  row(2, 'POST', '/v1/partner/end_users', 201),
  row(3, 'POST', '/v1/partner/end_users/{external_id}/portfolios', 201, 'user', 'key'),
  row(4, 'GET', '/v1/partner/end_users/{external_id}/portfolios', 200, 'user'),
  row(5, 'POST', '/v1/partner/end_users/{external_id}/deposit', 200, 'user', 'key'),
  row(6, 'POST', '/v1/partner/end_users/{external_id}/withdraw', 200, 'user', 'key'),
  row(7, 'GET', '/v1/partner/end_users/{external_id}/transactions', 200, 'user'),
]

function row(number: number, method: Method, path: string, status: number, ...credentials: string[]): Row {
  return { number, method, path, credentials, status }
}

/** Calls the endpoint for alice with its credentials and no other, changed as asked. */
async function call({ number, method, path, credentials }: Row, change: Ask = {}): Promise<Answer> {
  const transfer = { portfolio_id: portfolio, amount_minor: '1000' }
  const bodies: Record<number, unknown> = {
    2: { external_id: 'bert' },
    3: await acme.portfolioBody('aave-usdc'),
    5: transfer,
    6: transfer,
  }
  const below = path.replace('/v1/partner/', '').replace('{external_id}', 'alice')
  const credential = {
    ...(!credentials.includes('user') && { user: null }),
    ...(!credentials.includes('key') && { key: null }),
  }
  return acme.ask(method, below, { body: bodies[number], ...credential, ...change })
}

describe.each(TABLE)('Endpoint $number: $method $path', (row) => {
  const { method, path, credentials, status } = row
  const operation = () => paths[path]?.[method.toLowerCase()]

  test('answers with its credentials and no other', async () => {
    expect(outcome(await call(row))).toBe(String(status))
  })

  test('needs Authorization', async () => {
    expect(outcome(await call(row, { headers: { authorization: null } }))).toBe('401 token_missing')
  })

  if (credentials.includes('user'))
    test('needs X-User-Token', async () => {
      expect(outcome(await call(row, { user: null }))).toBe('401 invalid_user_token')
    })

  if (credentials.includes('key'))
    test('needs Idempotency-Key', async () => {
      expect(outcome(await call(row, { key: null }))).toBe('400 idempotency_key_required')
    })

  test('carries the version header', async () => {
    expect((await call(row)).headers.get('X-Service-Api-Version')).toBe('1.0.0')
  })

  test('is described in /openapi.json with its credentials and status', () => {
    const user = credentials.includes('user') && { user_token: [] }
    const scope = 'api://yield-sandbox/.default'
    expect(operation()?.security).toEqual([
      { idp_token: [], ...user },
      { client_credentials: [scope], ...user },
    ])
    expect(Object.keys(operation()?.responses ?? {})).toContain(String(status))
    const keyRequired = operation()?.parameters?.some(({ name, required }) => name === 'Idempotency-Key' && required)
    expect(keyRequired ?? false).toBe(credentials.includes('key'))
  })
})

describe('/openapi.json', () => {
  test('Endpoints: /openapi.json describes exactly the seven endpoints under /v1/', () => {
    const described = Object.entries(paths)
      .filter(([path]) => path.startsWith('/v1'))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    expect(described.sort()).toEqual(TABLE.map(({ method, path }) => `${method} ${path}`).sort())
  })

  test('Endpoints: beside them it describes the identity provider, the chains and the control interface only', () => {
    const beside = Object.keys(paths).filter((path) => !path.startsWith('/v1/'))
    const known =
      /^(\/_sandbox\/|\/rpc\/|\/\.well-known\/|\/oauth2\/token$|\/\{tenant_id\}\/v2.0\/.well-known\/|\/\{tenant_id\}\/oauth2\/v2\.0\/token$)/
    expect(beside.filter((path) => !known.test(path))).toEqual([])
  })
})
