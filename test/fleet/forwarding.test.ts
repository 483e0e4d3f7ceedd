import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { FaultRule } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { ask, type RawClient, recorded, type Stage, TwoWays } from './two-ways.ts'

const PHASES = ['on_request', 'before_broadcast', 'after_broadcast', 'after_confirmation', 'during_response'] as const

let ways: TwoWays
beforeAll(async () => {
  ways = await TwoWays.start()
})
afterAll(() => ways.stop())

const ofDeposits = (rule: FaultRule): FaultRule => ({ ...rule, match: { operation: 'deposit' } })

/** Resolves when a fault holds the request, and its transfer, if it was begun, is carried out. */
async function held({ control }: Stage, phase: (typeof PHASES)[number]): Promise<void> {
  await eventually(async () => expect(await control('GET', 'faults')).toMatchObject([{ hits: 1 }]))
  if (phase === 'on_request' || phase === 'before_broadcast') return
  await eventually(async () => expect(JSON.stringify(await control('GET', 'requests'))).toContain('"settled"'))
}

describe('a fault through another process is the same', () => {
  const drops = [
    { how: 'reset' },
    { how: 'close' },
    { how: 'truncate', bytes: 16 },
    { how: 'truncate', bytes: 0 },
  ] as const
  const dropped = PHASES.flatMap((phase) =>
    drops.map((how) => ({ kind: 'drop_connection', phase, with: how }) as const),
  )

  test.each(dropped)('%j', async (rule) => {
    const play = async (stage: Stage) => void (await ask(stage, stage.deposit()))
    const { received, record } = await ways.compare(play, ofDeposits(rule))
    const end = rule.with.how === 'reset' ? 'RST' : 'FIN'
    expect(received).toEqual([{ text: expect.any(String), end }])
    expect(record).toMatchObject([{ end: 'dropped' }])
  })

  test.each(PHASES)('a hang at %s, until the fault is cleared', async (phase) => {
    const play = async (stage: Stage) => {
      const client = stage.open()
      await client.write(stage.deposit())
      await held(stage, phase)
      await stage.control('DELETE', 'faults')
      await client.ended()
    }
    const { received } = await ways.compare(play, ofDeposits({ kind: 'hang', phase }))
    expect(received).toEqual([{ text: '', end: 'FIN' }])
  })

  test.each(PHASES)('ten hours of latency at %s', async (phase) => {
    const play = async (stage: Stage) => {
      const client = stage.open()
      await client.write(stage.deposit())
      await held(stage, 'on_request')
      expect(client.received).toEqual({ text: '', end: 'open' })
      await stage.control('POST', 'clock', { advance: '10h' })
      await client.answers(1)
    }
    const { received } = await ways.compare(play, ofDeposits({ kind: 'latency', phase, with: { delay: '10h' } }))
    expect(received[0]?.text).toMatch(/^HTTP\/1\.1 20\d /)
  })

  test.each(['html', 'cut'] as const)('a malformed body: %s', async (how) => {
    const play = async (stage: Stage) => void (await ask(stage, stage.deposit()))
    await ways.compare(play, ofDeposits({ kind: 'malformed_body', with: { how } }))
  })

  test('a body that trickles', async () => {
    const play = async (stage: Stage) => {
      const client = stage.open()
      await client.write(stage.deposit())
      await held(stage, 'during_response')
      await eventually(async () => {
        await stage.control('POST', 'clock', { advance: '1s' })
        expect(client.text).toMatch(/\}$/)
      })
    }
    const rule = ofDeposits({ kind: 'latency', phase: 'during_response', with: { bytes_per_second: 200 } })
    const { received } = await ways.compare(play, rule)
    expect(received[0]?.text).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('a client that leaves is noticed the same', () => {
  const hang = ofDeposits({ kind: 'hang', phase: 'after_broadcast' })
  const leave = {
    FIN: (client: RawClient) => client.socket.end(),
    RST: (client: RawClient) => client.socket.resetAndDestroy(),
  }

  test.each(['FIN', 'RST'] as const)('by %s while it is held', async (how) => {
    const { record } = await ways.compare(async (stage) => {
      const client = stage.open()
      await client.write(stage.deposit())
      await held(stage, 'after_broadcast')
      leave[how](client)
      if (how === 'FIN') await client.ended()
    }, hang)
    expect(record).toMatchObject([{ end: 'abandoned' }])
  })

  test.each(['FIN', 'RST'] as const)('by %s in half a body', async (how) => {
    const { record } = await ways.compare(async (stage) => {
      const client = stage.open()
      await client.write(stage.deposit().slice(0, -10))
      await recorded(stage)
      leave[how](client)
      if (how === 'FIN') await client.ended()
    })
    expect(record).toMatchObject([{ end: 'abandoned' }])
  })

  test('half a body and FIN at once', async () => {
    await ways.compare(async (stage) => {
      const client = stage.open()
      client.socket.end(stage.deposit().slice(0, -10))
      await client.ended()
      await recorded(stage)
    })
  })

  test('by RST with its answer unread', async () => {
    const { record } = await ways.compare(async (stage) => {
      const client = stage.open()
      client.socket.pause()
      await client.write(stage.deposit())
      await eventually(async () =>
        expect(await stage.control('GET', 'requests')).toMatchObject({ data: [{ end: 'answered' }] }),
      )
      await expect.poll(() => client.socket.bytesRead + client.socket.readableLength).toBeGreaterThan(0)
      client.socket.resetAndDestroy()
      await eventually(async () =>
        expect(await stage.control('GET', 'requests')).toMatchObject({ data: [{ unread: true }] }),
      )
    })
    expect(record).toMatchObject([{ unread: true }])
  })

  // The system of a process that is killed ends its connections, and so do clients: only the process itself can say who it was.
  test.each(['FIN', 'RST'] as const)(
    'and not taken for gone when the process that passed it on ends, by %s',
    async (how) => {
      const { record } = await ways.play(`http://${ways.address.host}:${ways.address.port}`, hang, async (stage) => {
        const client = stage.open()
        const [first = '', ...lines] = stage.deposit().split('\r\n')
        const count = lines.indexOf('')
        const forwarded = `X-Sandbox-Forwarded: ${ways.address.secret} 1 ${count} 1.1 http 50000 127.0.0.1`
        await client.write([first, forwarded, ...lines].join('\r\n'))
        await held(stage, 'after_broadcast')
        leave[how](client)
        if (how === 'FIN') await client.ended()
      })
      expect(record).toMatchObject([{ end: 'cut_off' }])
    },
  )

  test('right after its last byte: its deposit is carried out, four of four times', async () => {
    for (let i = 0; i < 4; i++) {
      const { record } = await ways.play(ways.front.url, undefined, async (stage) => {
        const client = stage.open()
        client.socket.write(stage.deposit(), () => client.socket.resetAndDestroy())
        await eventually(async () =>
          expect(JSON.stringify(await stage.control('GET', 'requests'))).toContain('"settled"'),
        )
      })
      expect(record).toMatchObject([{ operation: 'deposit', end: 'abandoned' }])
    }
  })

  test('before its owner is found: its deposit is carried out', async () => {
    let found = (): void => undefined
    const looked = new Promise<void>((resolve) => {
      found = resolve
    })
    const front = await TwoWays.front(ways.owner, async () => {
      await looked
      return ways.address
    })
    onTestFinished(() => front.close())
    const { record } = await ways.play(front.url, undefined, async (stage) => {
      const client = stage.open()
      client.socket.write(stage.deposit(), () => client.socket.resetAndDestroy())
      await client.ended()
      await stage.control('GET', 'health')
      found()
      await eventually(async () =>
        expect(JSON.stringify(await stage.control('GET', 'requests'))).toContain('"settled"'),
      )
    })
    expect(record).toMatchObject([{ operation: 'deposit', end: 'abandoned' }])
  })

  test('while the end of a chunk is not HTTP', async () => {
    await ways.compare(async (stage) => {
      const client = stage.open()
      await client.write(stage.deposit({ headers: ['Transfer-Encoding: chunked'], body: '5\r\n{"a":\r\n' }))
      await recorded(stage)
      await client.write('not a length\r\n')
      await client.ended()
    })
  })
})
