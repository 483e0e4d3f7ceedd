import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { ClockState } from '../../src/control/contract.ts'
import type { Credentials } from '../../src/index.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { eventually } from '../helpers/eventually.ts'
import { partnerAt } from '../helpers/partner.ts'
import { type CrashRound, inWords, planRounds } from './crash/crash-plan.ts'
import { atSomeMoment, ClientLoad } from './harness/client-load.ts'
import { ClientMemory } from './harness/client-memory.ts'
import { expectNothingLost } from './harness/expect-nothing-lost.ts'
import type { HarnessDeps } from './harness/harness-parts.ts'
import { type Meddling, Operator } from './harness/operator.ts'
import { SandboxProcess } from './harness/sandbox-process.ts'

// `npm run test:crash` sets them.
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 5)
const SEED = Number(process.env.CRASH_SEED ?? 7)
/** Kept responses expire after a day of business time. */
const BUSINESS_TIME = 20 * 3_600

const random = new SeededRandom(SEED)
const sandbox = new SandboxProcess()
const memory = new ClientMemory()
let deps: HarnessDeps
let clock: ClockState

beforeAll(async () => connect(await sandbox.start('0'), 0))
afterAll(() => sandbox.dispose())

function connect(credentials: Credentials, round: number): void {
  const control = new ControlClient(credentials.base_url)
  const [rpcUrl = ''] = Object.values(credentials.rpc_urls)
  deps = { acme: partnerAt(credentials), control, rpcUrl, memory, random, round }
}

/** Starts it again, however often it is killed meanwhile. */
async function restart({ startsKilled, delay, number }: CrashRound): Promise<void> {
  for (const after of startsKilled) {
    sandbox.begin(delay)
    await atSomeMoment(after)
    await sandbox.end('SIGKILL')
  }
  connect(await sandbox.start(delay), number)
}

/** The sandbox goes on by itself with another Anvil, and says why it does not meanwhile. */
async function expectChainBack(killed: readonly number[], during: CrashRound['during']): Promise<void> {
  const ready = async () => {
    const response = await fetch(`${deps.acme.sandbox.baseUrl}/_sandbox/ready`)
    return { status: response.status, body: (await response.json()) as { reason?: string } }
  }
  const why = during === 'reset' ? /reset|chain/ : /chain.*restarted/
  await eventually(async () => {
    expect(await ready()).toMatchObject({ status: 503, body: { reason: expect.stringMatching(why) } })
  }, 5)
  await eventually(() => expect(sandbox.anvils().filter((pid) => !killed.includes(pid))).toHaveLength(1), 5)
  await eventually(async () => expect(await ready()).toEqual({ status: 200, body: { ready: true } }), 5)
}

async function strike({ victim, during }: CrashRound): Promise<void> {
  const killed = victim === 'anvil' || victim === 'both' ? sandbox.killAnvil() : []
  if (victim === 'anvil') return expectChainBack(killed, during)
  await sandbox.end(victim === 'neither' ? 'SIGTERM' : 'SIGKILL')
}

/** A reset is whole or has not begun: those who were there before it are gone, and clients begin anew, or all is as it was. */
async function afterReset(users: readonly string[]): Promise<void> {
  const answers = await Promise.all(users.map((user) => deps.acme.get(`end_users/${user}/transactions`)))
  const statuses = new Set(answers.map(({ status }) => status))
  expect(statuses.size).toBeLessThanOrEqual(1)
  if (!statuses.has(200)) memory.forget()
}

async function expectSameClock(): Promise<void> {
  const { frozen, now, offset_seconds } = await deps.control.clock()
  expect(frozen).toBe(clock.frozen)
  if (frozen) expect(Date.parse(now)).toBeGreaterThanOrEqual(Date.parse(clock.now))
  else expect(offset_seconds).toBeGreaterThanOrEqual(clock.offset_seconds - 1)
}

describe(`seed ${SEED}`, () => {
  test.each(planRounds(ROUNDS, SEED).map((round) => [inWords(round), round] as const))('%s', async (_, round) => {
    onTestFailed(() => console.error(sandbox.log))
    const before = await deps.control.moveClock({ freeze: round.frozen })
    clock = before
    const does: Meddling[] = ['mine', 'set_balance', 'own_transaction']
    if (before.offset_seconds < BUSINESS_TIME) does.push('move_clock', 'move_clock', 'move_clock')
    deps = { ...deps, round: round.number }
    const load = new ClientLoad(deps)
    const operator = new Operator(deps, does)
    let reset: Promise<unknown> | undefined
    let users: readonly string[] = []
    if (round.during === 'reset') {
      await atSomeMoment(300)
      users = [...memory.users]
      reset = deps.control.reset().catch(() => undefined)
    }
    await atSomeMoment(round.after)
    await strike(round)
    await Promise.all([load.stop(), operator.stop()])
    await reset
    if (round.victim !== 'anvil') await restart(round)
    await sandbox.expectOneAnvil()
    if (reset) await afterReset(users)
    else await expectSameClock()
    await expectNothingLost(deps)
  })

  test('stopped in the end, nothing is left of any start', async () => {
    await sandbox.end('SIGTERM')
    await sandbox.expectNothingLeft()
  })
})
