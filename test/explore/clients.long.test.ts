import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PlannedTrial } from '../../src/explore/plan/plan.ts'
import { type BuiltClients, buildClients, type ClientProgram, python, shell } from '../verdict/clients/build-clients.ts'
import { otherLanguages } from '../verdict/clients/other-languages.ts'
import { BAD, cameTo, ENV, exploring } from './exploring.ts'

// npm run test:explore sets these.
const times = Number(process.env.EXPLORE_TIMES ?? 0)
const only = process.env.EXPLORE_ONLY ?? ''
const jobs = Number(process.env.EXPLORE_JOBS ?? 2)

let clients: BuiltClients
let others: ClientProgram[]
const compiled = mkdtempSync(join(tmpdir(), 'other-languages-'))

beforeAll(async () => {
  clients = await buildClients()
  others = otherLanguages(compiled)
})
afterAll(async () => {
  rmSync(compiled, { recursive: true })
  await clients[Symbol.asyncDispose]()
})

/**
 * The wrong clients whose mistake moves money, and what brings it about. The others' costs time, trust or a test: a fresh key after a 401
 * pays nothing twice, for nothing had happened; two portfolios are no money.
 */
const MOVING: Record<string, Parameters<typeof exploring>[1]> = {
  'fresh-key-on-deposit-retry': { kinds: ['drop_connection'], operations: ['deposit'] },
  'fresh-key-on-withdraw-retry': { kinds: ['drop_connection'], operations: ['withdraw'] },
  'fresh-key-after-503': { kinds: ['error'], operations: ['deposit'] },
  'gives-up-after-drop': { kinds: ['drop_connection'], operations: ['deposit'] },
  'next-transfer-without-looking': { kinds: ['reset-after-broadcast'], operations: ['deposit'] },
  // When its retries are used up it looks at once, and pays again where the transfer is not confirmed yet.
  'looks-once-then-pays-again': {
    kinds: ['reset-after-broadcast', 'reset-on-request'],
    operations: ['deposit'],
    depth: 2,
    env: { ...ENV, DEMO_ATTEMPTS: '2' },
    options: { confirmationDelay: '2s' },
  },
}

const commandOf = ({ command, args }: ClientProgram) => [command, ...args]

function wrong(id: string): ClientProgram {
  const program = clients.wrong.get(id)
  if (!program) throw new Error(`there is no wrong client ${id}`)
  return program
}

describe.runIf(times === 0)('a client whose mistake moves money is found', () => {
  // Pairs of faults take minutes.
  test.each(Object.entries(MOVING).filter(([, wish]) => wish?.depth !== 2))('%s', async (id, wish) => {
    const exploration = await exploring(commandOf(wrong(id)), { maxRuns: 8, ...wish })
    expect(cameTo(exploration, ...BAD)).not.toEqual([])
  })
})

describe.runIf(times === 0)('an exploration', () => {
  test('without --faults, --crash and --twins, every fault is planned', async () => {
    const { command, args } = clients.typescript
    const planned: PlannedTrial[] = []
    const watch = {
      baseline: () => undefined,
      planned: (_: unknown, trials: readonly PlannedTrial[]) => void planned.push(...trials),
      tried: () => undefined,
    }
    await exploring([command, ...args], { operations: ['deposit'], budget: 0, watch })
    const kinds = new Set(planned.map(({ harms: [harm] }) => harm?.hazard.rule?.kind))
    expect([...kinds]).toEqual(expect.arrayContaining(['drop_connection', 'error', 'revert', 'token_expired']))
  })
})

describe.runIf(times === 0)('the reference clients lose nothing', () => {
  const quick = { kinds: ['drop_connection', 'revert'], operations: ['deposit'], maxRuns: 3 } as const
  const holds = async (program: ClientProgram) => {
    const exploration = await exploring(commandOf(program), quick)
    expect(cameTo(exploration, ...BAD, 'errored', 'gave_up')).toEqual([])
    expect(exploration.results).toHaveLength(3)
  }
  test('in TypeScript', () => holds(clients.typescript))
  test.skipIf(!python)('in Python', () => holds(python!))
  test('in a shell script', () => holds(shell))
  test.for(['go', 'java', 'ruby'])('in %s', async (language, { skip }) => {
    const program = others.find(({ id }) => id === language)
    if (!program) return skip(`${language} is not installed`)
    await holds(program)
  })
})

describe.runIf(times > 0)('at length', () => {
  const line = (name: string, exploration: Awaited<ReturnType<typeof exploring>>, bad: readonly string[]) => {
    const { results, took_ms } = exploration
    const own = results.reduce((sum, { overhead_ms }) => sum + overhead_ms, 0) / results.length
    const safe = cameTo(exploration, 'gave_up').length
    console.log(
      `${name}: ${results.length} runs in ${(took_ms / 1000).toFixed(0)} s (${own.toFixed(0)} ms a run are the sandbox's own), ${bad.length} critical, serious or hung, ${safe} gave up safely`,
    )
  }
  const show = (sentences: readonly string[]) => {
    for (const one of sentences) console.log(`  ${one}`)
  }

  test('every wrong client whose mistake moves money is found', { timeout: 24 * 3_600_000 }, async () => {
    const missed: string[] = []
    for (const [id, wish] of Object.entries(MOVING).filter(([id]) => id.includes(only))) {
      const exploration = await exploring(commandOf(wrong(id)), { jobs, ...wish })
      const found = cameTo(exploration, ...BAD)
      line(id, exploration, found)
      show(found.slice(0, 1))
      if (found.length === 0) missed.push(id)
    }
    expect(missed).toEqual([])
  })

  test(`the reference clients lose nothing, ${times} times`, { timeout: 24 * 3_600_000 }, async () => {
    const programs = [clients.typescript, ...(python ? [python] : []), shell, ...others]
    const alarms: string[] = []
    for (let time = 1; time <= times; time++) {
      for (const program of programs.filter(({ id }) => id.includes(only))) {
        const exploration = await exploring(commandOf(program), { jobs, options: { seed: time } })
        const bad = cameTo(exploration, ...BAD, 'errored')
        line(`time ${time}, ${program.id}`, exploration, bad)
        show([...bad, ...cameTo(exploration, 'gave_up')])
        alarms.push(...bad)
      }
    }
    expect(alarms).toEqual([])
  })
})
