import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import { Breakages } from '../../src/faults/breakages.ts'
import { silent } from '../chain/chain-fixture.ts'
import { eventually } from '../helpers/eventually.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner } from '../helpers/partner.ts'
import { anvilPid, type OpenSandbox, openSandbox } from '../reliability/ledger.ts'

describe('what a fault broke', () => {
  let open: OpenSandbox
  let portfolio: string
  beforeEach(async () => {
    open = await openSandbox()
    portfolio = await open.acme.open('dan')
    const { faults } = open.sandbox.namespace.services
    faults.add([{ kind: 'pool_paused', phase: 'on_request', with: { pool: 'aave-usdc' } }], [])
    await open.acme.get('pools')
    expect(outcome(await deposit())).toBe('422 transaction_reverted')
  })
  afterEach(() => open.stop())

  const deposit = () => open.acme.deposit('dan', portfolio, '1000')
  const control = async (method: string, path: string) => {
    const { base_url } = await open.sandbox.credentials()
    const response = await fetch(`${base_url}/_sandbox/${path}`, { method })
    const text = await response.text()
    return { status: response.status, ...(text !== '' && JSON.parse(text)) }
  }

  test('is mended when the chain answers again, and whoever took the fault away is told in time', async () => {
    const pid = anvilPid(open)
    process.kill(pid, 'SIGSTOP')
    const begun = performance.now()
    const detail = expect.stringMatching(/^Out of force; .* is mended as soon as .*: transfers of 0x.* chain 31337\.$/)
    expect(await control('DELETE', 'faults')).toMatchObject({ status: 503, code: 'chain_unavailable', detail })
    expect(performance.now() - begun).toBeGreaterThan(2_900)
    expect(await control('POST', 'scenarios/stop')).toMatchObject({ status: 503, code: 'chain_unavailable' })
    expect(await (await control('GET', 'faults')).status).toBe(200)
    process.kill(pid, 'SIGCONT')
    await expect.poll(() => control('DELETE', 'faults')).toEqual({ status: 204 })
    expect(outcome(await deposit())).toBe('200')
  })

  test('is mended on the Anvil that takes the place of one that was lost', async () => {
    process.kill(anvilPid(open), 'SIGKILL')
    await expect.poll(async () => (await control('GET', 'ready')).ready).toBe(false)
    await expect.poll(() => control('DELETE', 'faults')).toEqual({ status: 204 })
    expect(outcome(await deposit())).toBe('200')
  })

  test('does not hold up a reset', async () => {
    process.kill(anvilPid(open), 'SIGSTOP')
    const clearing = control('DELETE', 'faults')
    expect(await control('POST', 'reset')).toMatchObject({ status: 200, ready: true })
    expect([204, 503]).toContain((await clearing).status)
    open = { ...open, acme: new Partner(open.acme.sandbox) }
    portfolio = await open.acme.open('dan')
    expect(outcome(await deposit())).toBe('200')
  })
})

describe('breakages', () => {
  const away = new ChainUnavailableError('31337', 'away')
  let breakages: Breakages
  beforeEach(() => {
    breakages = new Breakages({ clock: new SandboxClock(), log: silent })
  })

  /** Ends when it is told to. */
  function held() {
    const ends: (() => void)[] = []
    const task = () => new Promise<void>((resolve) => ends.push(resolve))
    return { task, ends }
  }

  /** Mends on a chain that is away, and counts how often. */
  const inVain = () =>
    vi.fn(() => {
      throw away
    })

  test('are waited for as far as they are released, not those of others that come meanwhile', async () => {
    const [mending, others] = [held(), held()]
    const rule = new AbortController()
    await breakages.keep({ what: 'a', break: () => {}, mend: mending.task }, rule.signal)
    rule.abort()
    const mended = breakages.mended()
    void breakages.keep({ what: 'b', break: others.task, mend: () => {} }, new AbortController().signal)
    mending.ends.pop()?.()
    await mended
    expect(breakages.underWay).toEqual(['b'])
  })

  test('are mended when they are released while they are being made', async () => {
    const making = held()
    const rule = new AbortController()
    let mended = 0
    const kept = breakages.keep({ what: 'a', break: making.task, mend: () => void mended++ }, rule.signal)
    rule.abort()
    const all = breakages.mended()
    making.ends.pop()?.()
    await Promise.all([kept, all])
    expect(mended).toBe(1)
  })

  test('are not made at all when they are released before', async () => {
    await breakages.keep({ what: 'a', break: () => expect.unreachable(), mend: () => {} }, AbortSignal.abort())
  })

  test('are left to whoever makes them anew while the chain is away', async () => {
    const [rule, other] = [new AbortController(), new AbortController()]
    const mend = inVain()
    await breakages.keep({ what: 'a', break: () => {}, mend }, rule.signal)
    rule.abort()
    await eventually(() => expect(mend.mock.calls.length).toBeGreaterThan(1))
    let mended = 0
    await breakages.keep({ what: 'a', break: () => {}, mend: () => void mended++ }, other.signal)
    await breakages.mended()
    const before = mend.mock.calls.length
    other.abort()
    await breakages.mended()
    expect([mend.mock.calls.length, mended]).toEqual([before, 1])
  })

  test('are not mended any more once they are abandoned', async () => {
    const [rule, late] = [new AbortController(), new AbortController()]
    const mend = inVain()
    await breakages.keep({ what: 'a', break: () => {}, mend }, rule.signal)
    await breakages.keep({ what: 'b', break: () => {}, mend: () => expect.unreachable() }, late.signal)
    rule.abort()
    const mended = breakages.mended()
    breakages.abandon()
    late.abort()
    await mended
    expect(mend).toHaveBeenCalledOnce()
    expect(breakages.underWay).toEqual([])
  })
})
