import { Type } from '@sinclair/typebox'
import { ExchangeEnded } from '../../domain/exchange.ts'
import { OPERATIONS } from '../../domain/operations.ts'
import { defineKind } from '../fault-kind.ts'
import { DurationRange } from '../parameters.ts'
import { wait } from '../strike.ts'

/** The answer is slow: it begins late, or its body comes slowly. */
export const latency = defineKind({
  kind: 'latency',
  scope: 'exchange',
  group: 'connection',
  phases: ['during_response', 'on_request', 'before_broadcast', 'after_broadcast', 'after_confirmation'],
  operations: OPERATIONS,
  with: Type.Object(
    {
      delay: Type.Optional(DurationRange({ description: 'How long to wait, on the sandbox clock.' })),
      bytes_per_second: Type.Optional(
        Type.Integer({ minimum: 1, description: 'How fast the body is sent; in during_response only.' }),
      ),
    },
    { additionalProperties: false, examples: [{ delay: '5s' }] },
  ),
  check({ delay, bytes_per_second }, phase) {
    if (bytes_per_second === undefined) {
      return delay === undefined
        ? { path: ['delay'], message: 'is missing', fix: 'give delay, bytes_per_second or both' }
        : undefined
    }
    if (phase === 'during_response') return undefined
    const message = `${bytes_per_second} is given at ${phase}`
    return { path: ['bytes_per_second'], message, fix: 'the body is sent in during_response only' }
  },
  explain({ delay, bytes_per_second }, when) {
    const waits = delay === undefined ? undefined : `it waits ${delay}`
    const trickles = bytes_per_second === undefined ? undefined : `the body comes at ${bytes_per_second} bytes a second`
    return `The answer is held up ${when}: ${[waits, trickles].filter(Boolean).join(', ')}.`
  },
  async strike(strike) {
    const { exchange, phase, released } = strike
    const { delay, bytes_per_second } = strike.with
    if (delay !== undefined) await wait(delay, strike, exchange.over)
    // The client has gone before anything was done, so the request does not happen.
    if (phase === 'on_request' && exchange.over.aborted) throw new ExchangeEnded()
    const { answer } = exchange
    if (answer && bytes_per_second !== undefined) answer.trickle = { bytesPerSecond: bytes_per_second, released }
  },
})
