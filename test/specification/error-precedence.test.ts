import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Operation as AnyOperation } from '../../src/domain/operations.ts'
import { PRECEDENCE, type PrecedenceId } from '../../src/fidelity/assumed-requests.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, type Ask, Partner } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
let restricted: Partner
let portfolio: string
let pool: Record<string, string>
beforeAll(async () => {
  sandbox = await sandboxWith((fixture) => {
    const tenant = fixture.tenants.find(({ slug }) => slug === 'restricted')
    if (tenant) tenant.access = []
  })
  acme = new Partner(sandbox)
  restricted = new Partner(sandbox, 'restricted')
  portfolio = await acme.open('alice')
  pool = await acme.portfolioBody('aave-usdc')
})
afterAll(() => sandbox.stop())

/** One that the partner's API has; the identity provider's knows nothing of these errors. */
type Operation = Exclude<AnyOperation, 'token'>

/** A request before it is sent. */
interface Draft {
  partner: Partner
  method: 'GET' | 'POST' | 'DELETE'
  externalId: string
  query: string
  body: Record<string, unknown>
  ask: Ask & { headers: Record<string, string> }
}

interface Flaw {
  refusal: string
  spoil(draft: Draft): void
}

const FLAWS: Record<PrecedenceId, Flaw> = {
  head: { refusal: '414 uri_too_long', spoil: (draft) => (draft.query += `&long=${'x'.repeat(9000)}`) },
  route: { refusal: '405 method_not_allowed', spoil: (draft) => (draft.method = 'DELETE') },
  idp_token: { refusal: '401 invalid_idp_token', spoil: ({ ask }) => (ask.headers.authorization = 'Bearer x') },
  role: { refusal: '403 insufficient_role', spoil: (draft) => (draft.partner = restricted) },
  user_token: { refusal: '401 invalid_user_token', spoil: ({ ask }) => (ask.headers['x-user-token'] = 'x') },
  subject: { refusal: '403 sub_url_mismatch', spoil: ({ ask }) => (ask.user = 'bob') },
  idempotency_key: { refusal: '400 validation_error Idempotency-Key', spoil: ({ ask }) => (ask.key = 'x') },
  type: { refusal: '415 unsupported_media_type', spoil: ({ ask }) => (ask.headers['content-type'] = 'text/plain') },
  size: { refusal: '413 payload_too_large', spoil: ({ body }) => (body.padding = 'x'.repeat(200_000)) },
  parameters: { refusal: '400 validation_error limit', spoil: (draft) => (draft.query += '&limit=0') },
  cursors: {
    refusal: '400 conflicting_cursors',
    spoil: (draft) =>
      (draft.query = `${draft.query.replaceAll('starting_after=x', '')}&starting_after=y&ending_before=y`),
  },
  cursor: { refusal: '400 cursor_invalid', spoil: (draft) => (draft.query += '&starting_after=x') },
  body: { refusal: '400 validation_error amount_minor', spoil: ({ body }) => (body.amount_minor = '0') },
  mismatch: { refusal: '422 idempotency_key_in_use_with_different_params', spoil: () => undefined },
  user_jwt: { refusal: '401 invalid_user_token', spoil: ({ body }) => (body.user_jwt = 'x') },
  end_user: { refusal: '404 end_user_not_found', spoil: (draft) => (draft.externalId = 'noone') },
  portfolio: { refusal: '404 portfolio_not_found', spoil: ({ body }) => (body.portfolio_id = 'jar_none') },
  balance: { refusal: '422 insufficient_balance', spoil: ({ body }) => (body.amount_minor = '9'.repeat(30)) },
}

/** Where an operation is refused otherwise. */
const OTHERWISE: Partial<Record<Operation, Partial<Record<PrecedenceId, Flaw>>>> = {
  create_portfolio: {
    body: { refusal: '400 validation_error name', spoil: ({ body }) => (body.name = '') },
    portfolio: { refusal: '422 pool_not_found', spoil: ({ body }) => (body.chain_id = '1') },
  },
  create_end_user: {
    body: { refusal: '400 validation_error external_id', spoil: ({ body }) => (body.external_id = '') },
  },
}

const flawOf = (operation: Operation, id: PrecedenceId) => OTHERWISE[operation]?.[id] ?? FLAWS[id]

const LIST = ['head', 'route', 'idp_token', 'role', 'parameters', 'cursors', 'cursor'] as const
const LIST_OF_END_USER = [...LIST, 'user_token', 'subject', 'end_user'] as const
const POST = ['head', 'route', 'idp_token', 'role', 'idempotency_key', 'type', 'size', 'body', 'mismatch'] as const
const POST_OF_END_USER = [...POST, 'user_token', 'subject', 'end_user', 'portfolio'] as const

/** What can be wrong with the requests of each operation, in any order. */
const OF = {
  list_pools: LIST,
  create_end_user: [...POST, 'user_jwt'],
  create_portfolio: POST_OF_END_USER,
  list_portfolios: LIST_OF_END_USER,
  deposit: [...POST_OF_END_USER, 'balance'],
  withdraw: [...POST_OF_END_USER, 'balance'],
  list_transactions: LIST_OF_END_USER,
} satisfies Record<Operation, readonly PrecedenceId[]>

const pairs = (Object.keys(OF) as Operation[]).flatMap((operation) => {
  const wrong: readonly PrecedenceId[] = OF[operation]
  const ids = PRECEDENCE.map(({ id }) => id).filter((id) => wrong.includes(id))
  return ids.flatMap((first, i) => ids.slice(i + 1).map((second) => ({ operation, first, second })))
})

test.each(pairs)('Assumption error-precedence: $first comes before $second ($operation)', async (pair) => {
  const { operation, first, second } = pair
  const draft = draftOf(operation)
  const send = (changed: Record<string, unknown> = {}) =>
    sent(operation, { ...draft, body: { ...draft.body, ...changed } })
  flawOf(operation, second).spoil(draft)
  if (first === 'mismatch' || second === 'mismatch') await send({ another: 'body', user_jwt: undefined }) // 401 would not be kept
  if (first !== 'head' && first !== 'route') expect(said(await send())).toBe(alone(pair))
  const isFresh = second !== 'mismatch' && first !== 'mismatch' // else what the second met is answered again
  if (isFresh && draft.method === 'POST' && second !== 'idempotency_key') draft.ask.key = randomUUID()
  flawOf(operation, first).spoil(draft)
  expect(said(await send())).toBe(flawOf(operation, first).refusal)
})

test.each(['no%20one', 'no%40one.example'])(
  'Assumption error-precedence: the body before %s, whom nobody can be',
  async (nobody) => {
    const deposit = (amount_minor: string) =>
      acme.post(`end_users/${nobody}/deposit`, { portfolio_id: 'jar_none', amount_minor }).then(outcome)
    expect(await deposit('many')).toBe('400 validation_error')
    expect(await deposit('1')).toBe('404 end_user_not_found')
  },
)

/** A request that nothing is wrong with. */
function draftOf(operation: Operation): Draft {
  const isList = operation.startsWith('list_')
  const bodies: Partial<Record<Operation, Record<string, string>>> = {
    create_end_user: { external_id: 'alice' },
    create_portfolio: pool,
  }
  return {
    ...{ partner: acme, method: isList ? 'GET' : 'POST', externalId: 'alice', query: '' },
    body: { ...(bodies[operation] ?? { portfolio_id: portfolio, amount_minor: '1000' }) },
    ask: { headers: {}, ...(!isList && { key: randomUUID() }) },
  }
}

function sent(operation: Operation, { partner, method, externalId, query, body, ask }: Draft): Promise<Answer> {
  const below = /^list_(?!pools)|^create_portfolio|^deposit|^withdraw/.test(operation)
  const name = { create_end_user: 'end_users', create_portfolio: 'portfolios' }[operation as string]
  const path = `${below ? `end_users/${externalId}/` : ''}${name ?? operation.replace('list_', '')}?${query}`
  return partner.ask(method as 'POST', path, { ...(ask.key !== undefined && { body }), ...ask })
}

/** Status and code, and which parameter a validation_error is about. */
function said(answer: Answer): string {
  const what = outcome(answer)
  return what === '400 validation_error' ? `${what} ${answer.body.param}` : what
}

/** What the second is refused with by itself: a key that is in use already comes before what the other body met. */
function alone({ operation, first, second }: (typeof pairs)[number]): string {
  return flawOf(operation, first === 'mismatch' ? 'mismatch' : second).refusal
}
