/** A request to a process that keeps accounts. `n`: its number, which the answer has. `list`: the last three, `whole`: all. */
export type BankRequest = { n: number; portfolio: string } & (
  | { ask: 'transfer'; key: string; type: 'deposit' | 'withdrawal'; amount: string }
  | { ask: 'balance' | 'list' | 'whole' }
)

/** Points at which such a process can be made to stand still: right before it sends a commit, before it answers what was stored, and
 * between the check of its lease and the answer. */
export type HaltPoint = 'sending' | 'stored' | 'checked'

/** Standing still at a point, once, or nowhere; or a wall clock that goes ahead by so many milliseconds. */
export type BankOrder = { order: 'halt'; point?: HaltPoint } | { order: 'wall'; ms: number }

/** What becomes of such a process. */
export type BankEvent =
  | { event: 'owner'; epoch: number; process: string }
  | { event: 'lost'; epoch: number; process: string; reason: string }
  | { event: 'halt'; point: HaltPoint }
