import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAZARDS } from '../../src/explore/plan/hazards.ts'
import { faultRules } from '../../src/explore/plan/plan.ts'
import { enoughInWords, saveScenario, scheduleScenario } from '../../src/explore/shrink/shrink.ts'
import { findScenario } from '../../src/scenarios/find-scenario.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'yield-sandbox-schedule-'))
})
afterAll(() => rm(folder, { recursive: true }))

const hazardOf = (id: string) => HAZARDS.find((hazard) => hazard.id === id)!
const position = { operation: 'deposit', tenant: null, external_id: 'alice', end_user: 1, ordinal: 1 } as const
const HARMS = [
  { position, hazard: hazardOf('reset-after-broadcast') },
  { position: { ...position, external_id: null, end_user: 2, ordinal: 3 }, hazard: hazardOf('unavailable') },
  {
    position: { operation: 'list_pools', tenant: 'acme', external_id: null, end_user: null, ordinal: 2 } as const,
    hazard: hazardOf('cut-json'),
  },
]
const WORDS = { name: 'explore-7-1', came: ['alice: 2.00 USDC instead of 1.00'], foundBy: 'yield-sandbox explore' }

test.each([
  [1, 1, true, 'the fault is needed: '],
  [3, 3, true, 'all of the 3 faults are needed: '],
  [1, 3, true, '1 of the 3 faults is enough: '],
  [2, 3, true, '2 of the 3 faults are enough: '],
  [2, 3, false, '2 of the 3 faults are enough, fewer may be: '],
])('%i of %i faults (the fewest: %s) in words', (few, all, minimal, words) => {
  const harms = [
    'reset after broadcast at deposit 1 of alice',
    '503 with Retry-After at deposit 3 of end user 2',
    'JSON cut short at list_pools 2 (acme)',
  ]
  expect(enoughInWords({ items: HARMS.slice(0, few), minimal, runs: 1 }, all)).toBe(
    words + harms.slice(0, few).join(', then '),
  )
})

test('a scenario expects the first fault to strike, since later ones may need a wrong client; one without faults expects nothing', () => {
  expect(scheduleScenario(HARMS, WORDS).expect).toEqual({ traffic: { faults: ['drop_connection'] } })
  expect(scheduleScenario([], WORDS)).toMatchObject({ clock: [], faults: [], expect: {} })
})

describe('a schedule as a scenario', () => {
  test('is a file that the loader takes, with the same faults', async () => {
    const scenario = scheduleScenario(HARMS, WORDS)
    const path = await saveScenario(join(folder, 'new', 'folder', 'explore-7-1.yaml'), scenario, '--save')
    const loaded = await findScenario(path)
    expect(loaded).toEqual(scenario)
    expect(loaded.faults).toEqual(faultRules(HARMS))
    expect(loaded.description).toBe(
      'What goes wrong: reset after broadcast at deposit 1 of alice, then 503 with Retry-After at deposit 3 of end user 2, ' +
        'then JSON cut short at list_pools 2 (acme). What came of it: alice: 2.00 USDC instead of 1.00. Found by yield-sandbox explore.',
    )
  })

  test('is one however strange the names and however long the story', async () => {
    const odd = { ...position, external_id: 'a: "b" #\n- \u{1f600}' }
    const came = Array.from({ length: 100 }, (_, i) => `user ${i}: 2.00 USDC: instead # of 1.00`)
    const scenario = scheduleScenario([{ position: odd, hazard: hazardOf('revert') }], { ...WORDS, came })
    const path = await saveScenario(join(folder, 'odd.yaml'), scenario, '--save')
    expect(await findScenario(path)).toEqual(scenario)
  })

  test.each(HAZARDS.map(({ id }) => id))('%s can be kept in one', async (id) => {
    const hazard = hazardOf(id)
    const operations = ['deposit', 'withdraw', 'list_transactions', 'token', 'list_pools'] as const
    const fitting = operations.find((operation) =>
      hazard.fits({
        position: { ...position, operation },
        transferred: operation === 'deposit' || operation === 'withdraw',
        has_cursor: true,
        answer: '200',
      }),
    )!
    const nobody = fitting === 'token' || fitting === 'list_pools' ? { external_id: null, end_user: null } : {}
    const scenario = scheduleScenario([{ position: { ...position, operation: fitting, ...nobody }, hazard }], WORDS)
    const path = await saveScenario(join(folder, `${id}.yaml`), scenario, '--save')
    expect(await findScenario(path)).toEqual(scenario)
  })

  test('that cannot be written names the flag', async () => {
    await expect(saveScenario('/proc/none/explore.yaml', scheduleScenario(HARMS, WORDS), '--save')).rejects.toThrow(
      /^--save \/proc\/none\/explore\.yaml cannot be written \(/,
    )
  })
})
