import type { ApiResponse } from '../domain/api-response.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import type { SettledTransfer } from '../domain/settle-transfer.ts'
import { flatPortfolio } from './portfolio-shape.ts'

/** What a settled transfer is answered with, whether its request is still there or not. Assumption `transfer-response`. */
export const transferResponse =
  ({ transfer_status }: ServiceSettings) =>
  (settled: SettledTransfer): ApiResponse => {
    const { tx_hash, id } = settled.transaction
    return { status: transfer_status, body: { tx_hash, transaction_id: id, ...flatPortfolio(settled) } }
  }
