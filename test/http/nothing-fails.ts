import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { anyText } from '../helpers/any-text.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { expectNoFailure, goodHeaders, type RawRequest, send } from './raw-http.ts'

/** Values next to sound ones, and values of any kind. */
const value = fc.oneof(
  anyText({ maxLength: 60 }),
  fc.bigInt({ min: -(2n ** 257n), max: 2n ** 257n }).map(String),
  fc.constantFrom('alice', 'aave', '31337', '1', '0', '', 'jar_', '__proto__', '\ud800', '0x', `0x${'0'.repeat(40)}`),
  fc.jsonValue({ maxDepth: 3 }),
)

const FIELDS = [
  'external_id',
  'user_jwt',
  'name',
  'description',
  'chain_id',
  'token_address',
  'market_address',
  'protocol',
]
const TRANSFER = ['portfolio_id', 'amount_minor']
const CONTROL = ['advance', 'set', 'kind', 'phase', 'match', 'skip', 'times', 'probability', 'with', 'claims', 'header']
const MINT = ['expires_in', 'key', 'constructor', 'toString']

const object = (fields: readonly string[]) => {
  const arbitrary = Object.fromEntries(fields.map((field) => [field, value]))
  return fc.record(arbitrary, { requiredKeys: [] })
}

const body = fc.oneof(
  { weight: 5, arbitrary: object([...FIELDS, ...TRANSFER, ...CONTROL, ...MINT]).map((it) => JSON.stringify(it)) },
  { weight: 2, arbitrary: fc.json() },
  { weight: 1, arbitrary: anyText() },
  { weight: 1, arbitrary: fc.uint8Array().map((bytes) => Buffer.from(bytes)) },
)

/** What the part of a URL may be written of, as fast-check's own, which begin with a table of all characters. */
const urlText = (others: string) => {
  const plain = fc.constantFrom(..."ABCXYZabcxyz0189-._~!$&'()*+,;=:@", ...others)
  const coded = anyText({ minLength: 1, maxLength: 1 }).map(encodeURIComponent)
  return fc.string({ unit: fc.oneof({ weight: 10, arbitrary: plain }, { weight: 1, arbitrary: coded }) })
}

/** Sends requests that nobody should send, so many for each property. */
export function nothingFails(numRuns: number): void {
  const RUNS = { numRuns }

  let sandbox: SandboxHandle
  let acme: Partner
  let portfolio_id: string
  beforeAll(async () => {
    sandbox = await testSandbox()
    acme = new Partner(sandbox)
    portfolio_id = await acme.open('alice')
  })
  afterAll(() => sandbox.stop())

  async function survives(request: RawRequest): Promise<void> {
    const headers = { ...(await goodHeaders(acme)), ...request.headers }
    expectNoFailure(await send(sandbox.baseUrl, { ...request, headers }))
  }

  test.each([
    '/v1/partner/end_users',
    '/v1/partner/end_users/alice/portfolios',
    '/v1/partner/end_users/alice/deposit',
    '/v1/partner/end_users/alice/withdraw',
    '/_sandbox/tenants/acme/user_tokens',
    '/_sandbox/tenants/acme/idp_tokens',
  ])('no body makes POST %s fail', async (path) => {
    await fc.assert(
      fc.asyncProperty(body, (body) => survives({ method: 'POST', path, body })),
      RUNS,
    )
  })

  test('no rule makes POST /_sandbox/faults fail, whatever it lets happen afterwards', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (body) => {
        await survives({ method: 'POST', path: '/_sandbox/faults', body })
        await survives({ path: '/_sandbox/faults' })
        await sandbox.faults.clear()
      }),
      RUNS,
    )
  })

  test('no form makes the token endpoint fail', async () => {
    const names = fc.constantFrom('grant_type', 'client_id', 'client_secret', 'scope', '__proto__')
    const pairs = fc.array(fc.tuple(names, anyText()), { maxLength: 5 })
    const form = fc.oneof(
      pairs.map((entries) => new URLSearchParams(entries).toString()),
      anyText(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    )
    const basic = fc.option(fc.string({ unit: 'binary-ascii' }).map((text) => `Basic ${btoa(text)}`))
    await fc.assert(
      fc.asyncProperty(form, basic, async (body, authorization) => {
        const headers = {
          'content-type': 'application/x-www-form-urlencoded',
          ...(authorization && { authorization }),
        }
        expectNoFailure(await send(sandbox.baseUrl, { method: 'POST', path: '/oauth2/token', headers, body }))
      }),
      RUNS,
    )
  })

  test.each(['pools', 'end_users/alice/portfolios', 'end_users/alice/transactions'])(
    'no query makes GET /v1/partner/%s fail',
    async (path) => {
      const name = fc.constantFrom('limit', 'starting_after', 'ending_before', 'limit[]', '__proto__', 'x')
      const text = fc.oneof(anyText(), fc.integer().map(String), fc.base64String())
      const query = fc.oneof(
        fc.array(fc.tuple(name, text), { maxLength: 4 }).map((pairs) => new URLSearchParams(pairs).toString()),
        urlText('/?'),
      )
      await fc.assert(
        fc.asyncProperty(query, (query) => survives({ path: `/v1/partner/${path}?${query}` })),
        RUNS,
      )
    },
  )

  test('no path makes the router fail', async () => {
    const segment = fc.oneof(
      urlText(''),
      fc.constantFrom('v1', 'partner', 'pools', 'end_users', 'alice', 'portfolios', '..', '.', '%', '%00', '%2F', ''),
    )
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH')
    await fc.assert(
      fc.asyncProperty(method, fc.array(segment, { maxLength: 6 }), async (method, segments) => {
        const path = `/${segments.join('/')}`
        // A reset is a sound request of its own.
        if (path.startsWith('/_sandbox/reset')) return
        expectNoFailure(await send(sandbox.baseUrl, { method, path, headers: await goodHeaders(acme) }))
      }),
      RUNS,
    )
  })

  test('what was sent has moved no money that a sound request did not ask for', async () => {
    const { body: page } = await acme.get('end_users/alice/portfolios')
    const untouched = page.data.find((portfolio: { portfolio_id: string }) => portfolio.portfolio_id === portfolio_id)
    expect(untouched).toMatchObject({ deposited: '0', total_balance: '0' })
  })
}
