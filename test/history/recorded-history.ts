/** What a client asked, when, and the answer. All times are milliseconds of one clock, the client's. */
export type Observation = TransferAttempt | BalanceRead | ListRead

interface Observed {
  /** The portfolio that it is about. Each one begins empty. */
  portfolio: string
  /** When the request was sent. */
  begin: number
}

interface Answered extends Observed {
  /** When the answer was there. */
  end: number
}

/** One request for a transfer. Those with the same key ask for the same one, which is to be carried out once at most. */
export interface TransferAttempt extends Observed {
  kind: 'transfer'
  key: string
  type: string
  /** Minor units, a digit string. */
  amount: string
  end?: number
  /** Left out: there was none, or one that leaves open whether the transfer was or will be carried out. */
  answer?: { done: TransferAnswer } | { refused: string }
}

/** A transfer's answer. */
export interface TransferAnswer {
  /** Id of the transaction in the list. */
  id: string
  /** Principal after it, if the answer says so. */
  principal?: string
}

/** One look at the principal. */
export interface BalanceRead extends Answered {
  kind: 'balance'
  principal: string
}

/** One look at the list of transactions. `end`: of the first page, since later pages show older ones alone. */
export interface ListRead extends Answered {
  kind: 'list'
  /** Newest first. */
  transactions: readonly ListedTransaction[]
  /** True if these are all, false if older ones may be left out. */
  whole: boolean
}

/** A transaction in a list. */
export interface ListedTransaction {
  id: string
  type: string
  amount: string
  /** Principal after it, if the list has it: a withdrawal takes principal and yield in proportion. Left out: the sum. */
  principal?: string
}

/** Everything that was asked with one key. */
export interface AskedTransfer extends Pick<TransferAttempt, 'key' | 'type' | 'amount' | 'begin'> {
  /** When it was certainly carried out: the end of the first answer that says so; infinite without any. */
  end: number
  answers: TransferAnswer[]
  refused: string | undefined
}

/** Attempts joined by their key, in the order in which they were begun. */
export function byKey(attempts: readonly TransferAttempt[]): AskedTransfer[] {
  const asked = new Map<string, AskedTransfer>()
  for (const { key, type, amount, begin, end, answer } of attempts.toSorted((a, b) => a.begin - b.begin)) {
    const known = asked.get(key)
    const one = known ?? { key, type, amount, begin, end: Number.POSITIVE_INFINITY, answers: [], refused: undefined }
    asked.set(key, one)
    if (answer === undefined) continue
    if ('refused' in answer) one.refused = answer.refused
    else {
      one.answers.push(answer.done)
      one.end = Math.min(one.end, end ?? Number.POSITIVE_INFINITY)
    }
  }
  return [...asked.values()]
}
