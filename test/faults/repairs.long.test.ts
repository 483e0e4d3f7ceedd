import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import { Repairs } from '../../src/faults/repairs.ts'
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

describe('repairs', () => {
  const away = new ChainUnavailableError('31337', 'away')
  let repairs: Repairs
  beforeEach(() => {
    const chains = { get: () => undefined, all: () => [], walletAddress: () => '0x' as const }
    repairs = new Repairs({ clock: new SandboxClock(), log: silent, chains, pools: [] })
  })

  /** Ends when it is told to. */
  function held() {
    const ends: (() => void)[] = []
    const task = () => new Promise<void>((resolve) => ends.push(resolve))
    return { task, ends }
  }

  /** Repairs on a chain that is away, and counts how often. */
  const inVain = () =>
    vi.fn(() => {
      throw away
    })

  test('are waited for when their rule is cleared, not those of faults that come meanwhile', async () => {
    const [mending, others] = [held(), held()]
    const rule = new AbortController()
    await repairs.owe({ what: 'a', break: () => {}, repair: mending.task }, rule.signal)
    rule.abort()
    const settled = repairs.settleAll()
    void repairs.owe({ what: 'b', break: others.task, repair: () => {} }, new AbortController().signal)
    mending.ends.pop()?.()
    await settled
    expect(repairs.underWay).toEqual(['b'])
  })

  test('are done when the rule is cleared while it still breaks something', async () => {
    const making = held()
    const rule = new AbortController()
    let mended = 0
    const kept = repairs.owe({ what: 'a', break: making.task, repair: () => void mended++ }, rule.signal)
    rule.abort()
    const all = repairs.settleAll()
    making.ends.pop()?.()
    await Promise.all([kept, all])
    expect(mended).toBe(1)
  })

  test('are not owed when the rule is cleared before it breaks anything', async () => {
    await repairs.owe({ what: 'a', break: () => expect.unreachable(), repair: () => {} }, AbortSignal.abort())
  })

  test('are left to a fault that breaks the same thing while the chain is away', async () => {
    const [rule, other] = [new AbortController(), new AbortController()]
    const repair = inVain()
    await repairs.owe({ what: 'a', break: () => {}, repair }, rule.signal)
    rule.abort()
    await eventually(() => expect(repair.mock.calls.length).toBeGreaterThan(1))
    let mended = 0
    await repairs.owe({ what: 'a', break: () => {}, repair: () => void mended++ }, other.signal)
    await repairs.settleAll()
    const before = repair.mock.calls.length
    other.abort()
    await repairs.settleAll()
    expect([repair.mock.calls.length, mended]).toEqual([before, 1])
  })

  test('are not done any more once they are abandoned', async () => {
    const [rule, late] = [new AbortController(), new AbortController()]
    const repair = inVain()
    await repairs.owe({ what: 'a', break: () => {}, repair }, rule.signal)
    await repairs.owe({ what: 'b', break: () => {}, repair: () => expect.unreachable() }, late.signal)
    rule.abort()
    const settled = repairs.settleAll()
    repairs.abandon()
    late.abort()
    await settled
    expect(repair).toHaveBeenCalledOnce()
    expect(repairs.underWay).toEqual([])
  })

  test('that a chain does not allow in time are left to the next start, with nothing owed in this one', async () => {
    const rule = new AbortController()
    expect(repairs.owed).toBe(false)
    await repairs.owe({ what: 'a', break: () => {}, repair: inVain() }, rule.signal)
    expect(repairs.owed).toBe(true)
    rule.abort()
    expect(await repairs.settleAtStop()).toBe(false)
    expect(repairs.owed).toBe(false)
    expect(await repairs.settleAtStop()).toBe(true)
  })
})
