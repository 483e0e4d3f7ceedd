import type { ServiceSettings } from '../domain/service-settings.ts'
import { transferEndpoint } from './transfer-endpoint.ts'

/** spec: endpoint 6. POST /v1/partner/end_users/{external_id}/withdraw */
export const withdraw = (settings: ServiceSettings) =>
  transferEndpoint(settings, {
    operation: 'withdraw',
    type: 'withdrawal',
    summary: 'Withdraw',
    description:
      'Moves funds from the portfolio back to the wallet, principal and yield in proportion. The total_balance last shown withdraws everything, whatever accrued since; any other amount moves exactly that amount. The connection is held until the transaction is confirmed.',
    assumptions: ['withdraw-all'],
  })
