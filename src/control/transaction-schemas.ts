import { Type } from '@sinclair/typebox'
import type { TransactionDetail, TransactionPage, TransactionRow } from './contract.ts'
import { Count, control, Moment, oneOf, orNull, Text } from './schema-parts.ts'

const textOrNull = (description: string) => orNull(Type.String(), description)

const ROW = {
  chain_id: Text('Its chain.'),
  tx_hash: Text('Its hash.'),
  sentence: Text('What it did, or was to do.'),
  status: oneOf(['success', 'reverted', 'pending'], 'pending: signed, and not mined yet.'),
  block_number: orNull(Count('Its block.'), 'Null while it is pending.'),
  at: orNull(Moment('Business time of its block.'), 'Null while it is pending.'),
  operation_number: orNull(
    Type.Integer({ minimum: 1, description: 'Number of the first request of the operation that caused it.' }),
    'Null for set-up, for what others sent, and when no request is on record.',
  ),
  tenant: textOrNull('Slug of the tenant whose end user sent it; null for others.'),
  external_id: textOrNull('The end user who sent it; null for others.'),
}

const TransactionRowSchema = control<TransactionRow>('ChainTransactionRow', Type.Object(ROW))

const Head = Type.Object({
  chain_id: Text('The chain.'),
  block_number: Count('Its last block.'),
  at: Moment('Business time of that.'),
})

export const TransactionPageSchema = control<TransactionPage>(
  'ChainTransactionPage',
  Type.Object({
    chain_id: Text('The chain they are on.'),
    transactions: Type.Array(TransactionRowSchema, { description: 'Those that are pending, then the newest first.' }),
    next_before: textOrNull('Value of before for the next page; null at the end.'),
    chains: Type.Array(Head, { description: 'Every chain.' }),
    unavailable: textOrNull('Why the chain cannot be read at present; null when it can.'),
  }),
)

export const TransactionDetailSchema = control<TransactionDetail>(
  'ChainTransactionDetail',
  Type.Object({
    ...ROW,
    from: Text('Address of its sender.'),
    to: textOrNull('Address of the contract or account; null when it makes a contract.'),
    nonce: Count('Its number among those of its sender.'),
    gas_used: orNull(Count('Gas that it used.'), 'Null while it is pending.'),
    gas_limit: Count('Gas that it might use.'),
    call: textOrNull('Name of the function and its arguments; null for an unknown one.'),
    input: Text('Its input data, hexadecimal; of more than 64 KiB the beginning.'),
    revert_reason: textOrNull('Why it reverted; null when it did not, or nobody knows any more.'),
    events: Type.Array(
      Type.Object({
        sentence: Text('What happened.'),
        name: textOrNull('Its name; null for an unknown one.'),
        contract: Text('Name of the contract, or its address in short.'),
        address: Text('Address of the contract.'),
      }),
      { description: 'In their order.' },
    ),
    request_ids: Type.Array(Type.String(), { description: 'Requests of its operation.' }),
  }),
)
