import fc from 'fast-check'
import type { LedgerTransfer } from '../../src/oracle/facts.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import type { ExchangeParts } from './exchange.ts'
import {
  ABANDONED,
  answered,
  carriedOut,
  customer,
  DROPPED,
  ledgerTransfer,
  list,
  STRUCK,
  transfer,
} from './requests.ts'

/**
 * What happens to one attempt. Those that are put off are reported to the customer: 429, or 401 though the token was renewed once; the
 * next order is another one.
 */
const FATES = [
  'answered',
  'dropped',
  'unread',
  'gateway',
  'limited',
  'left',
  'reverted',
  'refused',
  'put_off',
  'renewed_in_vain',
] as const

interface Intent {
  user: number
  worker: number
  operation: 'deposit' | 'withdraw'
  amount: string
  fates: (typeof FATES)[number][]
  /** Looks the outcome up at the end instead of repeating once more. */
  looks: boolean
  /** End users that it is asked to create first, each refused with 503. */
  customers: number
  /** False when the bodies of requests that are refused at once are not on record. */
  bodies: boolean
  pause: number
}

/** A process, and what it has. */
interface Worker {
  connection: number
  at: number
  tokens: number
}

const intent: fc.Arbitrary<Intent> = fc.record({
  user: fc.nat(2),
  worker: fc.nat(3),
  operation: fc.constantFrom('deposit', 'withdraw'),
  amount: fc.constantFrom('1000', '1000', '2000', '77'),
  fates: fc.array(fc.constantFrom(...FATES), { maxLength: 4 }),
  looks: fc.boolean(),
  customers: fc.nat(5),
  bodies: fc.boolean(),
  pause: fc.integer({ min: 20, max: 5000 }),
})

/** Workers that move money for the same few end users at the same time, each by the book. */
export const correctTraffic = fc.array(intent, { maxLength: 25 }).map((intents) => {
  const transfers: LedgerTransfer[] = []
  const workers: Worker[] = [1, 2, 3, 4].map((connection) => ({ connection, at: 0, tokens: 0 }))
  const exchanges = intents.flatMap((one, n) => {
    const worker = workers[one.worker]!
    const refused = createCustomers(one, n + 1, worker)
    const sent = carryThrough(one, n + 1, worker, transfers)
    worker.at += one.pause
    return [...refused, ...sent]
  })
  return { exchanges: exchanges.sort((a, b) => a.began.wall.localeCompare(b.began.wall)), transfers }
})

/** Each worker is a process with a token of its own. */
const tokenOf = ({ connection, tokens }: Worker) => ({
  fingerprint: `token-${connection}-${tokens}`,
  header: null,
  claims: null,
})

/** One after the other on one connection, none of them repeated. */
function createCustomers({ customers, bodies }: Intent, n: number, worker: Worker): RecordedExchange[] {
  return Array.from({ length: customers }, (_, one) => {
    const body = bodies ? `{"external_id":"user-${n}-${one}"}` : null
    const unavailable = answered(503, 'unavailable', [['Retry-After', '1']])
    worker.at += 20
    return customer(worker.at, {
      ...unavailable,
      until: worker.at + 4,
      connection: worker.connection,
      request: { body, idp_token: tokenOf(worker) },
    })
  })
}

function carryThrough(intent: Intent, n: number, worker: Worker, transfers: LedgerTransfer[]): RecordedExchange[] {
  const external_id = `user-${intent.user}`
  const sent: RecordedExchange[] = []
  const id = `tx_${n}`
  let moved = false
  const { connection } = worker
  const unread = intent.bodies ? {} : { request: { body: null } }
  const attempt = ({ request, ...parts }: ExchangeParts, took: number) => {
    const { operation, amount } = intent
    const base = { external_id, operation, amount, connection, request: { idp_token: tokenOf(worker), ...request } }
    sent.push(transfer(n, worker.at, { ...base, ...parts, until: worker.at + took }))
    worker.at += took + Math.max(intent.pause, 30)
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
      attempt({ ...answered(429, 'rate_limited', [['Retry-After', '2']]), ...unread }, 4)
      worker.at += 2000
    } else if (!moved && sent.length === 0 && fate === 'put_off') {
      attempt({ ...answered(429, 'rate_limited', [['Retry-After', '1']]), ...unread }, 4)
      return sent
    } else if (!moved && sent.length === 0 && fate === 'renewed_in_vain') {
      for (let attempts = 0; attempts < 2; attempts++) {
        attempt({ ...answered(401, 'invalid_idp_token'), ...STRUCK, ...unread }, 4)
        worker.tokens++
      }
      return sent
    } else if (!moved && fate !== 'put_off' && fate !== 'renewed_in_vain') {
      const code = fate === 'reverted' ? 'transaction_reverted' : 'insufficient_balance'
      if (fate !== 'answered') attempt(answered(422, code), 20)
      else attempt(move(), 30)
      return sent
    }
  }
  const last = sent.at(-1)
  const uncertain = last !== undefined && (last.end !== 'answered' || last.response?.status === 504)
  if (intent.looks && moved && uncertain) {
    const parts = { external_id, connection, request: { idp_token: tokenOf(worker) } }
    sent.push(list(worker.at, [], parts), list(worker.at + 1000, [id], parts))
    worker.at += 1000
  } else attempt(move(), 30)
  worker.at += 100
  return sent
}
