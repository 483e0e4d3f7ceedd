import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { FaultRule, Scenario } from '../../src/control/contract.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

const DAY = 24 * 3600 * 1000

let sandbox: SandboxHandle
let control: ControlClient

// A namespace is made sooner than one is reset, and needs no chain for most of this.
beforeEach(async () => {
  sandbox = await testNamespace()
  control = new ControlClient(sandbox.baseUrl).in(sandbox.namespace)
})
afterEach(() => sandbox.stop())

function scenario(parts: Partial<Scenario>): Scenario {
  return { name: 'my-own', description: 'What happens.', faults: [], clock: [], expect: {}, ...parts }
}

async function post(path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${sandbox.controlUrl}/${path}`, {
    method: 'POST',
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const kinds = async () => (await sandbox.faults.list()).map(({ kind }) => kind)

describe('start and stop', () => {
  test('the list names the shipped scenarios, and the one that runs', async () => {
    const { scenarios, current } = await control.scenarios()
    expect(scenarios).toContainEqual({
      name: 'dropped-deposit',
      description: expect.stringContaining('Idempotency-Key'),
    })
    expect(current).toBeNull()
    const run = await control.startScenario('dropped-deposit')
    expect(run).toMatchObject({
      name: 'dropped-deposit',
      state: 'running',
      faults: [{ kind: 'drop_connection', phase: 'after_broadcast', hits: 0 }],
      clock: [],
      failure: null,
      expect: { findings: ['outcome-after-drop', 'single-transfer'] },
    })
    expect((await control.scenarios()).current).toEqual(run)
  })

  test('stop takes back what the scenario applied, and nothing else', async () => {
    await sandbox.faults.add({ kind: 'expired_cursor' })
    await control.startScenario(scenario({ faults: [{ kind: 'revert' }], clock: [{ freeze: true }] }))
    await sandbox.faults.add({ kind: 'bad_signature' })
    expect([await kinds(), (await sandbox.clock.state()).frozen]).toEqual([
      ['expired_cursor', 'revert', 'bad_signature'],
      true,
    ])
    const { stopped } = await control.stopScenario()
    expect(stopped).toMatchObject({ name: 'my-own', state: 'stopped', faults: [{ kind: 'revert' }] })
    expect([await kinds(), (await sandbox.clock.state()).frozen]).toEqual([['expired_cursor', 'bad_signature'], false])
    expect(await control.stopScenario()).toEqual({ stopped: null })
  })

  test('a clock that was frozen before stays frozen', async () => {
    await sandbox.clock.freeze()
    await control.startScenario(scenario({ clock: [{ freeze: false }] }))
    expect((await sandbox.clock.state()).frozen).toBe(false)
    await control.stopScenario()
    expect((await sandbox.clock.state()).frozen).toBe(true)
  })

  test('a clock that somebody stopped while it ran stays stopped, if the scenario says nothing of it', async () => {
    await control.startScenario('reverted-deposit')
    await sandbox.clock.freeze()
    await control.stopScenario()
    expect((await sandbox.clock.state()).frozen).toBe(true)
  })

  test('faults added after a clearing are not taken for those of the scenario', async () => {
    await control.startScenario('reverted-deposit')
    await control.clearFaults()
    await sandbox.faults.add({ kind: 'expired_cursor' })
    await control.stopScenario()
    expect(await kinds()).toEqual(['expired_cursor'])
  })

  test('only one runs at a time', async () => {
    await control.startScenario('dropped-deposit')
    const refused = await post('scenarios/unknown-fields/start')
    expect(refused).toMatchObject({ status: 409, body: { code: 'scenario_running' } })
    expect(refused.body.detail).toContain('dropped-deposit')
    expect(await kinds()).toEqual(['drop_connection'])
  })

  test('a reset ends it', async () => {
    await control.startScenario('dropped-deposit')
    await control.reset()
    expect([(await control.scenarios()).current, await kinds()]).toEqual([null, []])
    expect((await control.startScenario('dropped-deposit')).faults[0]?.id).toBe('fault-1')
  })
})

describe('clock moves', () => {
  test('are made when the operation has been answered with success so many times, before the client can ask again', async () => {
    const acme = new Partner(sandbox)
    await acme.idpToken()
    const start = await sandbox.clock.now()
    const after = { operation: 'list_pools' as const, times: 2 }
    await control.startScenario(scenario({ clock: [{ advance: '8d', after }] }))
    await acme.get('pools')
    await acme.get('pools?limit=0')
    expect((await sandbox.clock.now()) - start).toBeLessThan(DAY)
    await acme.get('pools')
    expect((await sandbox.clock.now()) - start).toBeGreaterThanOrEqual(8 * DAY)
    const { stopped } = await control.stopScenario()
    expect(stopped?.clock).toEqual([
      { explanation: 'After 2 successful list_pools, the clock is moved on by 8d.', moved_at: expect.any(String) },
    ])
    expect((await sandbox.clock.now()) - start, 'time that has passed stays passed').toBeGreaterThanOrEqual(8 * DAY)
  })

  test('count tokens too, and not what a fault has dropped', async () => {
    const clock = [
      { freeze: true, after: { operation: 'token' as const } },
      { advance: '1d', after: { operation: 'list_pools' as const } },
    ]
    const faults: FaultRule[] = [{ kind: 'drop_connection', match: { operation: 'list_pools' } }]
    await control.startScenario(scenario({ clock, faults }))
    const start = await sandbox.clock.now()
    await expect(new Partner(sandbox).get('pools')).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect([(await sandbox.clock.state()).frozen, (await sandbox.clock.now()) - start < DAY]).toEqual([true, true])
    await new Partner(sandbox).get('pools')
    expect((await sandbox.clock.now()) - start).toBeGreaterThanOrEqual(DAY)
  })

  test('of the start are made in their order, before the start is answered', async () => {
    const set = new Date((await sandbox.clock.now()) + 3 * DAY).toISOString()
    const run = await control.startScenario(scenario({ clock: [{ advance: '1d' }, { set }, { freeze: true }] }))
    expect(run.clock.map(({ moved_at }) => moved_at !== null)).toEqual([true, true, true])
    expect([(await sandbox.clock.state()).frozen, (await sandbox.clock.now()) >= Date.parse(set)]).toEqual([true, true])
  })
})

describe('bad input changes nothing and says what is wrong', () => {
  test('an unknown name is answered with the nearest', async () => {
    const { status, body } = await post('scenarios/droped-deposit/start')
    expect([status, body.code]).toEqual([404, 'scenario_not_found'])
    expect(body.detail).toBe('There is no scenario "droped-deposit"; did you mean "dropped-deposit"?')
  })

  test.each<[string, unknown, RegExp]>([
    ['no scenario', [], /^body: must be a mapping/],
    ['an unknown kind', scenario({ faults: [{ kind: 'revrt' as 'revert' }] }), /faults\[0\]\.kind: "revrt" .*"revert"/],
    [
      'an unknown tenant',
      scenario({ faults: [{ kind: 'revert' }, { kind: 'revert', match: { tenant: 'acmee' } }] }),
      /faults\[1\]\.match\.tenant: "acmee" .*"acme".*Nothing was applied/,
    ],
    [
      'a way back',
      scenario({ faults: [{ kind: 'revert' }], clock: [{ set: '2020-01-01T00:00:00Z' }] }),
      /clock\[0\]\.set: the clock only moves forward.*Nothing was applied/,
    ],
    [
      'a step too far',
      scenario({ faults: [{ kind: 'revert' }], clock: [{ advance: '1d' }, { advance: '9000y' }] }),
      /clock\[1\]\.advance: .*9999.*Nothing was applied/,
    ],
  ])('%s', async (_, body, detail) => {
    const before = await sandbox.clock.now()
    const answer = await post('scenarios', body)
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error'])
    expect(answer.body.detail).toMatch(detail)
    expect([await kinds(), (await control.scenarios()).current]).toEqual([[], null])
    expect((await sandbox.clock.now()) - before).toBeLessThan(DAY)
  })
})

test('a scenario that fails half-way takes its faults back, says what it applied, and leaves the sandbox usable', async () => {
  const acme = new Partner(sandbox)
  const after = { operation: 'list_pools' as const }
  const clock = [{ advance: '1d' }, { set: (await sandbox.clock.iso()).replace(/\d\dZ$/, '99Z'), after }]
  await control.startScenario(scenario({ faults: [{ kind: 'revert' }], clock }))
  expect((await acme.get('pools')).status).toBe(200)
  const { current } = await control.scenarios()
  expect(current).toMatchObject({ state: 'failed', faults: [{ kind: 'revert', hits: 0 }] })
  expect(current?.failure).toMatch(
    /^clock\[1\] could not be made: the clock only moves forward; .* Its faults \(1\) were in force and have been taken back; .*clock\[0\] at \d{4}-/,
  )
  expect(await kinds()).toEqual([])
  expect((await control.startScenario('dropped-deposit')).state).toBe('running')
})
