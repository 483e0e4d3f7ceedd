import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { certificateSummary } from '../../src/certify/certificate.ts'
import type { CertifyTerms } from '../../src/certify/certify.ts'
import { findScenario } from '../../src/scenarios/find-scenario.ts'
import { writeClients } from '../cli/exec-clients.ts'
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

test('the same client comes to the same digest, whatever happens at a time, and one with a mistake to another', async () => {
  const right = await certified(client.right)
  expect(await certified(client.right, { jobs: 1 })).toEqual(right)
  const first = await certified(client.wrong)
  const second = await certified(client.wrong)
  expect(second).toEqual(first)
  expect(first.digest).not.toBe(right.digest)
  expect(first.evidence.findings).toContainEqual({
    id: 'idempotency-key-on-retry',
    outcome: 'contradicted',
    ...{ contradicted_in: ['dropped-deposit'], proved_in: [], review_in: [] },
  })
  expect(certificateSummary(first.evidence)).toMatchObject({ verdict: 'failed', bad_runs: 2 })
  expect(first.evidence.exploration.incidents[0]).toMatchObject({
    outcome: 'paid_twice',
    level: 'critical',
    sentences: [
      "alice's deposit of 1.00 USDC had no answer, was sent again under another key, and was carried out both times.",
      expect.stringMatching(/^alice: .* \(deposit of 1.00: .* instead of once\)$/),
    ],
    findings: expect.arrayContaining(['idempotency-key-on-retry']),
    repeat: expect.stringMatching(/^yield-sandbox (exec|explore) .* --seed 1 .*-- env FRESH_KEYS=1 /),
  })
})

test('a worker that asks again at its next start is right when it is started once more, its store as it left it', async () => {
  const [jobs, count] = [join(directory, 'jobs.json'), join(directory, 'prepared')]
  const wish = {
    before: 'rm -f "$JOBS"; echo >> "$COUNT"',
    env: { PATH: process.env.PATH, JOBS: jobs, COUNT: count },
    kinds: ['reset-after-broadcast'],
    scenarios: [await findScenario('dropped-deposit')],
    jobs: 1,
  }
  const outbox = writeClients(directory)('outbox')
  const without = await certified(outbox, wish)
  expect(certificateSummary(without.evidence)).toMatchObject({ verdict: 'failed', bad_runs: 1 })
  expect(without.evidence.scenarios).toMatchObject([{ verdict: 'failed', operations: [{ outcome: 'untold' }] }])
  await rm(count)
  const once = await certified(outbox, { ...wish, restarts: 1 })
  expect(certificateSummary(once.evidence)).toMatchObject({ verdict: 'passed', bad_runs: 0 })
  // Before three runs without a fault, of which one shows that it can be started again, one with a fault, three in which it is killed at its
  // deposit, and the scenario: not before a restart.
  expect(await readFile(count, 'utf8')).toBe('\n'.repeat(8))
  expect(once.evidence.exploration).toMatchObject({ not_restartable: null })
  expect(once.evidence.exploration.trials.map(({ hazard }) => hazard).sort()).toEqual([
    'killed-on-request',
    'killed-unanswered',
    'killed-under-way',
    'reset-after-broadcast',
  ])
})

test('a command that fails in a scenario is not right, and its preparation is part of it', async () => {
  // Twice without a fault, once with one; the fourth time is in the scenario.
  const before = 'echo >> "$COUNT"'
  const { evidence } = await certified(
    ['sh', '-c', '"$@" && test "$(wc -l < "$COUNT")" -lt 4', 'sh', ...client.right],
    {
      before,
      env: { PATH: process.env.PATH, COUNT: join(directory, 'count') },
      kinds: ['reset-after-broadcast'],
      scenarios: [await findScenario('dropped-deposit')],
    },
  )
  expect(evidence.scenarios).toMatchObject([{ name: 'dropped-deposit', verdict: 'passed', end: '1', may_fail: false }])
  expect(certificateSummary(evidence).summary).toBe('Failed: the command failed in 1 of 1 scenario.')
})
