import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import type { Answer } from '../helpers/partner.ts'
import { anvilPid, Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

/** Milliseconds after which nobody waits any more, and what an answer may take beyond them on a busy machine. */
const PATIENCE = 4_000
const MARGIN = 3_000
/** Milliseconds that a reset may take. */
const RESET = 2_000
/** Milliseconds until a node that stands still is replaced, less a little. */
const STILL_THERE = 4_500
const AWAY = expect.stringMatching(/^(chain_unavailable|sandbox_starting)$/)
/** Said of a limit in time, and of the transaction that is none. */
const SAID =
  /^-32005 no answer within 4 s, the limit of a call|^-32005 not begun: there was no answer in time to a call before it$|^-32602/
const WALLET = `0x${'5c'.repeat(20)}`
const BLOCK = 'latest'

let open: OpenSandbox
let ledger: Ledger
let portfolio: string
let url: string
beforeEach(async () => {
  open = await openSandbox()
  ledger = new Ledger(open)
  portfolio = await open.acme.open('alice')
  url = (await open.sandbox.credentials()).rpc_urls['31337']!
  expect((await open.acme.deposit('alice', portfolio, '1000')).status).toBe(200)
})
afterEach(() => open.stop())

const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })

/** A call of each kind that the gateway knows. */
const READ_TOGETHER = [
  call('eth_chainId'),
  call('eth_gasPrice'),
  call('eth_getTransactionReceipt', `0x${'1'.repeat(64)}`),
]
const READ_APART = call('eth_getBalance', WALLET, BLOCK)
const LATEST = call('eth_getBlockByNumber', BLOCK, false)
const EXECUTED = call('eth_call', { to: WALLET }, BLOCK)
const TRACED = call('debug_traceCall', { to: WALLET }, BLOCK, { tracer: 'callTracer' })
const FOUND = call('eth_getLogs', { fromBlock: BLOCK })
const FILTERED = call('eth_newBlockFilter')
const FILLED = call('eth_fillTransaction', { from: WALLET, to: WALLET })
const MINED = call('evm_mine')
const CHANGED = call('anvil_setBalance', WALLET, '0x1')
const SNAPSHOT = call('evm_snapshot')
const SENT = call('eth_sendTransaction', { from: WALLET, to: WALLET })
const RAW = call('eth_sendRawTransaction', '0x02')
const ALL = [
  ...READ_TOGETHER,
  READ_APART,
  LATEST,
  EXECUTED,
  TRACED,
  FOUND,
  FILTERED,
  FILLED,
  MINED,
  CHANGED,
  SENT,
  SNAPSHOT,
]

async function http(path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const headers = { 'content-type': 'application/json' }
  const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(new URL(path, url), init)
  return { status: response.status, body: await response.json() }
}

type Face = readonly [name: string, ask: () => Promise<Pick<Answer, 'status' | 'body'>>]

const rpc = (body: unknown): Face => [JSON.stringify(body).slice(0, 60), () => http(url, body)]

const FACES: readonly Face[] = [
  ...[...ALL, RAW].map(rpc),
  rpc(ALL),
  rpc(READ_TOGETHER),
  rpc(Array(40).fill(EXECUTED)),
  ['the audit', () => http('/_sandbox/audit')],
  ['the clock, moved', () => http('/_sandbox/clock', { advance: '1h' })],
  ['portfolios', () => open.acme.get('end_users/alice/portfolios')],
  ['pools', () => open.acme.get('pools')],
  ['a new end user', () => open.acme.post('end_users', { external_id: 'bob' }, { user: null })],
  ['a deposit', () => open.acme.deposit('alice', portfolio, '1000')],
]

/** Asks at all faces at once. None answers as if nothing were wrong, none lets anybody wait. */
async function expectAnswers(): Promise<void> {
  const begun = performance.now()
  const measure = sleep(PATIENCE).then(() => performance.now() - begun) // longer than that on a busy machine
  const late: string[] = []
  const said: string[] = []
  await Promise.all(
    FACES.map(async ([name, ask]) => {
      const { status, body } = await ask()
      const took = performance.now() - begun
      if (took > (await measure) + MARGIN) late.push(`${name}: ${Math.round(took)} ms`)
      if (status !== 200) expect({ name, status, code: body.code }).toEqual({ name, status: 503, code: AWAY })
      for (const { error } of [body].flat()) if (error) said.push(`${error.code} ${error.message}`)
    }),
  )
  expect(late).toEqual([])
  for (const reason of new Set(said)) expect(reason).toMatch(SAID)
}

describe('Anvil stands still', () => {
  test('whoever asks is answered in time, until another one has taken its place', async () => {
    const pid = anvilPid(open)
    process.kill(pid, 'SIGSTOP')
    await expectAnswers()
    await Promise.all([expectAnswers(), sleep(STILL_THERE).then(() => expectAnswers())])
    await eventually(() => expect(anvilPid(open)).not.toBe(pid))
    await eventually(async () => expect((await http('/_sandbox/ready')).status).toBe(200))
    expect((await open.acme.deposit('alice', portfolio, '1000')).status).toBe(200)
    await ledger.expectAudited()
  })

  test('it goes on where it was, should it only have slept', async () => {
    const pid = anvilPid(open)
    process.kill(pid, 'SIGSTOP')
    await expectAnswers().finally(() => process.kill(pid, 'SIGCONT'))
    await eventually(async () => expect((await open.acme.deposit('alice', portfolio, '1000')).status).toBe(200))
    await ledger.expectAudited()
  })

  test('a reset heals it', async () => {
    process.kill(anvilPid(open), 'SIGSTOP')
    const waiting = [http(url, EXECUTED), http(url, MINED), open.acme.deposit('alice', portfolio, '1000')]
    const begun = performance.now()
    const measure = sleep(RESET).then(() => performance.now() - begun)
    expect((await http('/_sandbox/reset', {})).status).toBe(200)
    const took = performance.now() - begun
    expect(took).toBeLessThan(await measure)
    await Promise.all(waiting)
    portfolio = await open.acme.open('alice')
    expect((await open.acme.deposit('alice', portfolio, '1000')).status).toBe(200)
    await ledger.expectAudited()
  })
})
