import type { Operation } from '../../../src/domain/operations.ts'
import type { TrialOutcome } from '../../../src/explore/exploration.ts'

/** A worker that is explored, and the worst that it comes to. */
export interface Explored {
  worker: string
  /** Ids of hazards. */
  hazards: readonly string[]
  operation: Operation
  worst: TrialOutcome
  /** What that shows. */
  because: string
}

const LOST = ['reset-after-confirmation', 'cut-json']

/** What `explore` sees beside `exec`, since it has a run in which nothing goes wrong. */
export const EXPLORED: readonly Explored[] = [
  {
    ...{ worker: 'same-key', hazards: [...LOST, 'reset-on-request', 'unavailable'], operation: 'deposit' },
    ...{ worst: 'survived', because: 'It is told, whatever is lost.' },
  },
  {
    ...{ worker: 'looks-in-list', hazards: LOST, operation: 'withdraw', worst: 'survived' },
    because: 'It asks for a list that it does not ask for otherwise.',
  },
  {
    ...{ worker: 'saga-looks-first', hazards: LOST, operation: 'deposit', worst: 'taken_back' },
    because: 'A withdrawal that is not there otherwise takes back what the list had shown.',
  },
  {
    ...{ worker: 'equal-orders-at-once', hazards: LOST, operation: 'deposit', worst: 'survived' },
    because: 'There are two equal deposits at once without faults as well.',
  },
  {
    ...{ worker: 'suite-asserts-refusal', hazards: LOST, operation: 'deposit', worst: 'survived' },
    because: 'The refusal is there without faults as well.',
  },
  {
    ...{
      worker: 'suite-sends-another-body',
      hazards: ['reset-after-confirmation'],
      operation: 'deposit',
      worst: 'survived',
    },
    because: 'The same.',
  },
  {
    ...{ worker: 'refund-on-any-error', hazards: LOST, operation: 'deposit', worst: 'untold' },
    because: 'As in `exec`.',
  },
  {
    ...{ worker: 'refund-with-statement', hazards: ['cut-json'], operation: 'withdraw', worst: 'perhaps_told' },
    because:
      'The list at its end is there without faults as well, so it was not asked for because of a lost answer; `exec` lets it off.',
  },
  {
    ...{ worker: 'skips-later-orders', hazards: ['rate-limited'], operation: 'deposit', worst: 'not_asked_for' },
    because: 'The orders that it skips are there without faults; `exec` sees a note.',
  },
  {
    ...{ worker: 'another-amount', hazards: ['reset-on-request'], operation: 'deposit', worst: 'another_amount' },
    because: 'There is no deposit of that amount without faults.',
  },
  {
    ...{ worker: 'blind-saga', hazards: ['reset-on-request'], operation: 'deposit', worst: 'took_out_unpaid' },
    because: 'It takes out as much as an order that was never carried out.',
  },
  {
    ...{ worker: 'requeues-under-new-key', hazards: ['outage-lost'], operation: 'deposit', worst: 'paid_twice' },
    because: 'The fault `outage` outlasts its attempts.',
  },
  {
    ...{ worker: 'refund-when-exhausted', hazards: ['outage-lost'], operation: 'deposit', worst: 'untold' },
    because: 'The same.',
  },
  {
    ...{ worker: 'two-workers', hazards: LOST, operation: 'deposit', worst: 'survived' },
    because: 'It is wrong without faults as well: found by nothing.',
  },
  {
    ...{ worker: 'key-from-body', hazards: LOST, operation: 'deposit', worst: 'survived' },
    because: 'It is wrong without faults as well: found by nothing.',
  },
  {
    ...{ worker: 'takes-422-for-done', hazards: ['revert'], operation: 'deposit', worst: 'refused' },
    because: 'A note: its traffic is that of a client that tells its customer.',
  },
]
