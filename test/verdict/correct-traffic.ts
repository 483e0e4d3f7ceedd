import fc from 'fast-check'
import type { LedgerTransfer } from '../../src/oracle/ledger.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import type { ExchangeParts } from './exchange.ts'
import { ABANDONED, answered, carriedOut, DROPPED, ledgerTransfer, list, transfer } from './requests.ts'

/** What happens to one attempt. */
const FATES = ['answered', 'dropped', 'unread', 'gateway', 'limited', 'left', 'reverted', 'refused'] as const

interface Intent {
  user: number
  worker: number
  operation: 'deposit' | 'withdraw'
  amount: string
  fates: (typeof FATES)[number][]
  /** Looks the outcome up at the end instead of repeating once more. */
  looks: boolean
  pause: number
}

const intent: fc.Arbitrary<Intent> = fc.record({
  user: fc.nat(2),
  worker: fc.nat(3),
  operation: fc.constantFrom('deposit', 'withdraw'),
  amount: fc.constantFrom('1000', '1000', '2000', '77'),
  fates: fc.array(fc.constantFrom(...FATES), { maxLength: 4 }),
  looks: fc.boolean(),
  pause: fc.integer({ min: 20, max: 5000 }),
})

/** Workers that move money for the same few end users at the same time, each by the book. */
export const correctTraffic = fc.array(intent, { maxLength: 25 }).map((intents) => {
  const transfers: LedgerTransfer[] = []
  const clocks = [0, 0, 0, 0]
  const exchanges = intents.flatMap((one, n) => {
    const { sent, end } = carryThrough(one, n + 1, clocks[one.worker]!, transfers)
    clocks[one.worker] = end + one.pause
    return sent
  })
  return { exchanges: exchanges.sort((a, b) => a.began.wall.localeCompare(b.began.wall)), transfers }
})

function carryThrough(intent: Intent, n: number, start: number, transfers: LedgerTransfer[]) {
  const external_id = `user-${intent.user}`
  const sent: RecordedExchange[] = []
  const id = `tx_${n}`
  let at = start
  let moved = false
  const connection = intent.worker + 1
  // Each worker is a process with a token of its own.
  const idp_token = { fingerprint: `token-${connection}`, header: null, claims: null }
  const attempt = ({ request, ...parts }: ExchangeParts, took: number) => {
    const { operation, amount } = intent
    const base = { external_id, operation, amount, connection, request: { idp_token, ...request } }
    sent.push(transfer(n, at, { ...base, ...parts, until: at + took }))
    at += took + Math.max(intent.pause, 30)
  }
  const move = () => {
    if (!moved) transfers.push(ledgerTransfer(id, { external_id, type: intent.operation, amount_minor: intent.amount }))
    moved = true
    return carriedOut(id, intent.amount)
  }
  for (const fate of intent.fates) {
    if (fate === 'dropped') attempt({ ...DROPPED, ...move() }, 40)
    else if (fate === 'unread') attempt({ ...DROPPED, request: { body: null } }, 3)
    else if (fate === 'gateway') attempt({ ...answered(504, 'gateway_timeout'), ...move() }, 50)
    else if (fate === 'left') attempt({ ...ABANDONED, ...move() }, 60_000)
    else if (fate === 'limited') {
      attempt(answered(429, 'rate_limited', [['Retry-After', '2']]), 4)
      at += 2000
    } else if (!moved) {
      const code = fate === 'reverted' ? 'transaction_reverted' : 'insufficient_balance'
      if (fate !== 'answered') attempt(answered(422, code), 20)
      else attempt(move(), 30)
      return { sent, end: at }
    }
  }
  const last = sent.at(-1)
  const uncertain = last !== undefined && (last.end !== 'answered' || last.response?.status === 504)
  if (intent.looks && moved && uncertain) {
    sent.push(list(at, [], { external_id, connection, request: { idp_token } }))
    at += 1000
    sent.push(list(at, [id], { external_id, connection, request: { idp_token } }))
  } else attempt(move(), 30)
  return { sent, end: at + 100 }
}
