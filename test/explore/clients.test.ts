import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PlannedTrial } from '../../src/explore/plan/plan.ts'
import { type BuiltClients, buildClients } from '../verdict/clients/build-clients.ts'
import { exploring } from './exploring.ts'

// What they come to: clients.long.test.ts; of a client that pays twice in small: test/cli/explore.test.ts.
let clients: BuiltClients
beforeAll(async () => {
  clients = await buildClients([])
})
afterAll(() => clients[Symbol.asyncDispose]())

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
