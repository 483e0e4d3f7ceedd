import type { ServiceSettings } from '../domain/service-settings.ts'
import { transferEndpoint } from './transfer-endpoint.ts'

/** spec: endpoint 5. POST /v1/partner/end_users/{external_id}/deposit */
export const deposit = (settings: ServiceSettings) =>
  transferEndpoint(settings, {
    operation: 'deposit',
    type: 'deposit',
    summary: 'Deposit',
    description:
      'Moves funds from the wallet into the portfolio. The connection is held until the transaction is confirmed; use a client timeout of at least 60 seconds.',
    errors: ['amount_too_small'],
  })
