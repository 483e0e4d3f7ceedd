import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { certificateSummary } from '../../src/certify/certificate.ts'
import type { CertifyTerms } from '../../src/certify/certify.ts'
import { findScenario } from '../../src/scenarios/find-scenario.ts'
import { certified as certifiedWith } from './certified.ts'
import { writeClient } from './clients.ts'

let directory: string
let client: ReturnType<typeof writeClient>
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-certify-'))
  client = writeClient(directory)
})
afterAll(() => rm(directory, { recursive: true }))

/** Through two scenarios, and what can happen to connections of deposits: what waits is left out. */
async function certified(command: readonly string[], wish: Partial<CertifyTerms> = {}) {
  return certifiedWith(command, {
    kinds: ['reset-after-broadcast', 'close-after-confirmation'],
    operations: ['deposit'],
    scenarios: [await findScenario('dropped-deposit'), await findScenario('dropped-withdraw')],
    ...wish,
  })
}

// Twice the same, whatever happens at a time, and a command that fails in a scenario: certify.long.test.ts.
test('a right client has what it proved; why a scenario came to no verdict is said', async () => {
  const said: string[] = []
  const { evidence } = await certified(client.right, { say: (line) => void said.push(line) })
  expect(certificateSummary(evidence)).toMatchObject({
    verdict: 'inconclusive',
    summary: expect.stringMatching(/^Inconclusive: 1 of 2 scenarios came to no verdict \(dropped-withdraw\); /),
    ...{ contradicted: 0, bad_runs: 0, runs: 2 },
  })
  expect(evidence.scenarios).toEqual([
    { name: 'dropped-deposit', verdict: 'passed', end: '0', may_fail: false, operations: [] },
    { name: 'dropped-withdraw', verdict: 'inconclusive', end: '0', may_fail: false, operations: [] },
  ])
  expect(evidence.findings).toContainEqual({
    id: 'idempotency-key-on-retry',
    outcome: 'proved',
    ...{ contradicted_in: [], proved_in: ['dropped-deposit'], review_in: [] },
  })
  expect(said).toContainEqual(expect.stringMatching(/^scenario dropped-withdraw: Inconclusive: .* \(and \d+ more\)\.$/))
  expect(said.filter((line) => line.includes('Inconclusive'))).toHaveLength(1)
})
