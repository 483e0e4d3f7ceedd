import { beforeEach, describe, expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Exchange } from '../../src/domain/exchange.ts'
import type { Chains } from '../../src/domain/ports/chain.ts'
import { FaultEngine } from '../../src/faults/fault-engine.ts'
import { ScenarioRunner } from '../../src/scenarios/scenario-runner.ts'
import type { Scenario } from '../../src/scenarios/scenario-schema.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { anExchange } from '../faults/an-exchange.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const chains: Chains = { get: () => undefined, all: () => [], walletAddress: () => '0x' }

let faults: FaultEngine
let scenarios: ScenarioRunner
beforeEach(() => {
  const clock = new SandboxClock()
  faults = new FaultEngine({ clock, random: new SeededRandom(7), chains, pools: [], forks: [], log })
  scenarios = new ScenarioRunner({ faults, clock, log, seed: 7 })
})

const scenario = (parts: Partial<Scenario> = {}): Scenario => ({
  name: 'my-own',
  description: 'What happens.',
  faults: [{ kind: 'error' }, { kind: 'expired_cursor' }],
  clock: [],
  expect: {},
  ...parts,
})

const request = (given?: Partial<Exchange>) => faults.at('on_request', anExchange(given)).catch(() => undefined)

describe('whose faults somebody took away', () => {
  test.each<[string, () => void]>([
    ['a reset', reset],
    ['taking all faults away', () => faults.clear()],
    ['taking one of them away', () => faults.remove('fault-2')],
  ])('%s loses the scenario; it is known whether it had struck', async (_, take) => {
    scenarios.start(scenario(), [])
    expect(scenarios.lost).toBeUndefined()
    take()
    expect(scenarios.lost).toEqual({ name: 'my-own', struck: false })
    scenarios.stop()
    scenarios.start(scenario({ name: 'next' }), [])
    expect(scenarios.lost).toBeUndefined()
    faults.clear()
    expect(scenarios.lost).toEqual({ name: 'next', struck: false })
  })

  test.each<[string, () => void]>([
    ['a reset', reset],
    ['taking all faults away', () => faults.clear()],
  ])('%s after a fault struck', async (_, take) => {
    scenarios.start(scenario(), [])
    await request()
    take()
    expect(scenarios.lost).toEqual({ name: 'my-own', struck: true })
  })

  test('a move of the clock is an effect, too', () => {
    scenarios.start(scenario({ faults: [], clock: [{ advance: '1h' }] }), [])
    reset()
    expect(scenarios.lost).toEqual({ name: 'my-own', struck: true })
  })

  test('a second reset changes nothing', () => {
    scenarios.start(scenario(), [])
    reset()
    reset()
    expect(scenarios.lost).toEqual({ name: 'my-own', struck: false })
  })

  test('what it did before it was lost is still told', async () => {
    scenarios.start(scenario(), [])
    await request()
    faults.clear()
    expect(scenarios.current).toMatchObject({ state: 'running', faults: [{ id: 'fault-1', hits: 1 }, { hits: 0 }] })
    expect(faults.list()).toEqual([])
  })
})

describe('none is lost', () => {
  test('that was stopped, before whatever is taken away', () => {
    scenarios.start(scenario(), [])
    scenarios.stop()
    reset()
    expect(scenarios.lost).toBeUndefined()
  })

  test('when only others are taken away', () => {
    scenarios.start(scenario(), [])
    faults.add([{ kind: 'error' }], [])
    faults.remove('fault-3')
    expect(scenarios.lost).toBeUndefined()
  })

  test('when none was ever started', () => {
    reset()
    expect(scenarios.lost).toBeUndefined()
  })

  test('when a reset comes twice and the next was started between', () => {
    scenarios.start(scenario(), [])
    reset()
    scenarios.start(scenario({ name: 'next' }), [])
    expect(scenarios.lost).toBeUndefined()
  })
})

/** In the order in which a namespace does it. */
function reset(): void {
  scenarios.forget()
  faults.reset()
}
