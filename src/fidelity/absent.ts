import { type FidelityRow, testsIn } from './row.ts'

const here = testsIn('test/specification/absent.test.ts')
const LIVE_ONLY = 'public documentation of live services'
/** Reason why none of these endpoints exists here, in the profile of live documentation either. */
const SEVEN = 'the specification has seven endpoints, and live ones beyond them are documented too little to be played'

/** Features of live services that the specification lacks, and the answer that a client gets instead. */
export const ABSENT_ROWS: readonly FidelityRow[] = [
  absent(
    'read-end-user',
    'GET /v1/partner/end_users/{external_id}',
    `404 not_found: ${SEVEN}`,
    here('Absent: %s %s is 404 not_found'),
  ),
  absent(
    'delete-end-user',
    'DELETE /v1/partner/end_users/{external_id} (204, soft, idempotent)',
    `404 not_found: ${SEVEN}`,
    here('Absent: %s %s is 404 not_found'),
  ),
  absent(
    'wallet-balance',
    'GET /v1/partner/end_users/{external_id}/wallet-balance (wallet_address, chain_id, chain_name, token, balance, as_of)',
    `404 not_found: ${SEVEN}; the wallet can be read over RPC`,
    here('Absent: %s %s is 404 not_found'),
  ),
  absent(
    'delete-portfolio',
    'DELETE …/portfolios/{portfolio_id}',
    `404 not_found: ${SEVEN}`,
    here('Absent: %s %s is 404 not_found'),
  ),
  absent(
    'ramp-intents',
    'on-ramp and off-ramp intents',
    `404 not_found: ${SEVEN}`,
    here('Absent: %s %s is 404 not_found'),
  ),
  absent(
    'other-transaction-types',
    'transactions of still other types (yield syncs, fee deductions)',
    'deposit, withdrawal and, where it is set so, yield_harvest: what a sync says beyond that is documented nowhere, and there are no fees. type is an open list all the same, and the fault unknown_values answers with a type that nobody knows',
    here('Absent: transactions have two types and no rates'),
  ),
  absent(
    'sign-in',
    'an authorization endpoint where people sign in, and other grants than client_credentials',
    '400 unsupported_response_type, and unsupported_grant_type at the token address',
    testsIn('test/identity/token-endpoint.test.ts')('names an authorization endpoint, %s, where nobody can sign in'),
  ),
]

function absent(id: string, about: string, rule: string, test: FidelityRow['test']): FidelityRow {
  return { id, kind: 'absent', about, rule, source: LIVE_ONLY, test }
}
