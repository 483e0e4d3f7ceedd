import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import { outcome } from '../helpers/outcome.ts'
import { Ledger, type OpenSandbox, openSandbox } from '../reliability/ledger.ts'

let lines: Record<string, unknown>[] = []
const logged = new Writable({
  write(chunk, _encoding, done) {
    lines.push(JSON.parse(String(chunk)))
    done()
  },
})

let open: OpenSandbox
beforeAll(async () => {
  open = await openSandbox({ logger: pino({ level: 'warn' }, logged) })
})
afterAll(() => open.stop())

// Nothing a client does makes a block impossible to replace: the chain has to be made to fail.
test.each([
  [
    'the chain is away, as another fault may have asked for',
    new ChainUnavailableError('31337', 'paused by a fault'),
    40,
  ],
  ['it is broken', new Error('out of luck'), 50],
])('a fault that fails after broadcast does not keep the transfer from being settled: %s', async (_, error, level) => {
  const portfolio = await open.acme.open('dan')
  vi.spyOn(open.sandbox.namespace.services.chains.all()[0]!, 'reorg').mockRejectedValueOnce(error)
  open.sandbox.namespace.services.faults.add([{ kind: 'reorg' }], [])
  lines = []
  expect(outcome(await open.acme.deposit('dan', portfolio, '1000'))).toBe('200')
  expect(lines).toMatchObject([{ level, msg: 'a fault failed after broadcast; the transfer goes on' }])
  expect(JSON.stringify(lines).includes('"stack"')).toBe(level === 50)
  await new Ledger(open).expectSound()
})
