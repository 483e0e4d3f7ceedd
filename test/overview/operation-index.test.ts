import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { OperationIndex } from '../../src/overview/operation-index.ts'
import { atOnce } from '../../src/support/breathe.ts'
import { ExchangeLog } from '../../src/traffic/exchange-log.ts'
import type { LiveExchange } from '../../src/traffic/live-exchange.ts'
import { Redactor } from '../../src/traffic/redact.ts'

const token = (appid: string) => `Bearer e30.${Buffer.from(JSON.stringify({ appid })).toString('base64url')}.e30`

function logOf(maxExchanges: number) {
  const around = { clock: new SandboxClock(), settings: { name: 'Service' }, redactor: new Redactor([]) }
  return new ExchangeLog({
    ...around,
    maxExchanges,
    maxBytes: 2 ** 26,
    tenantOf: (id) => (id === 'acme' ? id : undefined),
  })
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('open' as const),
      write: fc.boolean(),
      key: fc.constantFrom('A', 'a', 'b', 'c', null),
      user: fc.constantFrom('alice', 'bob'),
      known: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      which: fc.nat(9),
      body: fc.constantFrom('{"a":1}', '{"a":2}'),
      mismatch: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('look' as const) }) },
)

test('whatever comes in whatever order, the groups are those of an index made from scratch', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.constantFrom(5, 20, 1000), (steps, maxExchanges) => {
      const log = logOf(maxExchanges)
      const index = new OperationIndex(log)
      const changed = new Set<number>()
      log.watcher = { changed: (number) => changed.add(number), forgotten: () => undefined }
      const open: LiveExchange[] = []
      let ids = 0
      const look = () => {
        atOnce(index.update([...changed]))
        changed.clear()
      }
      for (const one of steps) {
        if (one.do === 'look') look()
        else if (one.do === 'end') {
          const [live] = open.splice(one.which % Math.max(1, open.length), 1)
          if (!live) continue
          log.takeBody(live, one.body, one.body.length)
          if (one.mismatch)
            live.refusal = {
              check: 'operation',
              code: 'idempotency_key_in_use_with_different_params',
              aspect: null,
              expected: null,
              came: null,
              detail: '',
            }
          log.takeAnswer(live, one.mismatch ? 422 : 200, null, '{}')
          log.end(live, 'answered')
        } else {
          const headers = [
            ...(one.key === null ? [] : ['idempotency-key', one.key]),
            'authorization',
            one.known ? token('acme') : 'Bearer x',
          ]
          const operation = one.write ? ('deposit' as const) : ('list_portfolios' as const)
          const url = `/v1/partner/end_users/${one.user}/deposit`
          open.push(
            log.open({
              request_id: `req_${String(ids++).padStart(26, '0')}`,
              method: 'POST',
              url,
              headers,
              connection: 1,
              operation,
            }),
          )
        }
      }
      look()
      const scratch = new OperationIndex(log)
      atOnce(scratch.begin())
      expect([...index.newestFirst()]).toEqual([...scratch.newestFirst()])
      expect([index.size, index.oldestMoney]).toEqual([scratch.size, scratch.oldestMoney])
    }),
    { seed: 7, numRuns: 300 },
  )
})
