import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PRECEDENCE, type PrecedenceId } from '../../src/domain/fidelity/precedence.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Ask, Partner, testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
let restricted: Partner
let portfolio: string
beforeAll(async () => {
  sandbox = await testSandbox()
  acme = new Partner(sandbox)
  restricted = new Partner(sandbox, 'restricted')
  portfolio = await acme.open('alice')
})
afterAll(() => sandbox.stop())

/** A request before it is sent. */
interface Draft {
  partner: Partner
  method: 'GET' | 'POST' | 'DELETE'
  externalId: string
  query: string
  body: Record<string, string>
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
  idempotency_key: { refusal: '400 idempotency_key_required', spoil: ({ ask }) => (ask.key = null) },
  type: { refusal: '415 unsupported_media_type', spoil: ({ ask }) => (ask.headers['content-type'] = 'text/plain') },
  size: { refusal: '413 payload_too_large', spoil: ({ body }) => (body.padding = 'x'.repeat(200_000)) },
  parameters: { refusal: '400 validation_error', spoil: (draft) => (draft.query += '&limit=0') },
  body: { refusal: '400 validation_error', spoil: ({ body }) => (body.amount_minor = '0') },
  mismatch: { refusal: '422 idempotency_key_in_use_with_different_params', spoil: () => undefined },
  end_user: { refusal: '404 end_user_not_found', spoil: (draft) => (draft.externalId = 'noone') },
  portfolio: { refusal: '404 portfolio_not_found', spoil: ({ body }) => (body.portfolio_id = 'jar_none') },
  balance: { refusal: '422 insufficient_balance', spoil: ({ body }) => (body.amount_minor = '9'.repeat(30)) },
}

/** What can be wrong with a request that has a body, and with one that has a query. */
const OF: Record<'deposit' | 'transactions', readonly PrecedenceId[]> = {
  deposit: PRECEDENCE.map(({ id }) => id).filter((id) => id !== 'parameters'),
  transactions: ['head', 'route', 'idp_token', 'role', 'user_token', 'subject', 'parameters', 'end_user'],
}

const pairs = (['deposit', 'transactions'] as const).flatMap((operation) =>
  OF[operation].flatMap((first, i) => OF[operation].slice(i + 1).map((second) => ({ operation, first, second }))),
)

test.each(pairs)('Assumption error-precedence: $first comes before $second ($operation)', async (pair) => {
  const { operation, first, second } = pair
  const isDeposit = operation === 'deposit'
  const draft: Draft = {
    ...{ partner: acme, method: isDeposit ? 'POST' : 'GET', externalId: 'alice', query: '' },
    body: { portfolio_id: portfolio, amount_minor: '1000' },
    ask: { headers: {}, ...(isDeposit && { key: randomUUID() }) },
  }
  const send = ({ partner, method, externalId, query, body, ask }: Draft) =>
    partner.ask(method as 'POST', `end_users/${externalId}/${operation}?${query}`, {
      ...(isDeposit && { body }),
      ...ask,
    })
  FLAWS[second].spoil(draft)
  if (first === 'mismatch')
    await send({ ...draft, body: { ...draft.body, amount_minor: `1${draft.body.amount_minor}` } })
  if (second === 'mismatch') await send({ ...draft, body: { ...draft.body, amount_minor: '1' } })
  if (first !== 'head' && first !== 'route') expect(outcome(await send(draft))).toBe(alone(second, first))
  const isFresh = second !== 'mismatch' && first !== 'mismatch' // else what the second met is answered again
  if (isFresh && isDeposit) draft.ask.key = randomUUID()
  FLAWS[first].spoil(draft)
  expect(outcome(await send(draft))).toBe(FLAWS[first].refusal)
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

test('Assumption error-precedence: cursors that exclude each other before the end user', async () => {
  const answer = await acme.get('end_users/noone/transactions?starting_after=x&ending_before=x')
  expect(outcome(answer)).toBe('400 conflicting_cursors')
})

/** What the second is refused with by itself: a key that is in use already comes before what the other body met. */
function alone(second: PrecedenceId, first: PrecedenceId): string {
  return FLAWS[first === 'mismatch' ? 'mismatch' : second].refusal
}
