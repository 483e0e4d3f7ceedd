import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PlannedTrial } from '../../src/explore/plan/plan.ts'
import { type BuiltClients, buildClients, type ClientProgram } from '../verdict/clients/build-clients.ts'
import { BAD, cameTo, exploring } from './exploring.ts'

// All of them, with more faults, and the right ones: clients.long.test.ts.
const WRONG = 'fresh-key-on-deposit-retry'

let clients: BuiltClients
beforeAll(async () => {
  clients = await buildClients([WRONG])
})
afterAll(() => clients[Symbol.asyncDispose]())

const HIT = { kinds: ['reset-after-broadcast'], operations: ['deposit'], maxRuns: 1 } as const
const explored = ({ command, args }: ClientProgram) => exploring([command, ...args], HIT)

test('a client that pays again under a fresh key is found', async () => {
  expect(cameTo(await explored(clients.wrong.get(WRONG)!), ...BAD)).toHaveLength(1)
})

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
