import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { summaryOf } from '../../src/certify/certificate.ts'
import { renderText } from '../../src/certify/render/render-text.ts'
import { shippedScenarios } from '../../src/scenarios/shipped-scenarios.ts'
import { ENV } from '../explore/exploring.ts'
import { type BuiltClients, buildClients } from '../verdict/clients/build-clients.ts'
import { certified } from './certified.ts'

// npm run test:certify sets these.
const times = Number(process.env.CERTIFY_TIMES ?? 0)
const jobs = Number(process.env.CERTIFY_JOBS ?? 2)

describe.runIf(times > 0)('the reference client in TypeScript is certified', () => {
  let clients: BuiltClients
  beforeAll(async () => {
    clients = await buildClients()
  })
  afterAll(() => clients[Symbol.asyncDispose]())

  test.each(Array.from({ length: times }, (_, i) => i + 1))('with seed %i', { timeout: 3_600_000 }, async (seed) => {
    const { command, args } = clients.typescript
    const wish = {
      env: ENV,
      jobs,
      options: { confirmationDelay: 0, seed },
      scenarios: await shippedScenarios(),
      say: console.log,
    }
    const certificate = await certified([command, ...args], wish)
    console.log(renderText(certificate))
    expect(summaryOf(certificate.evidence)).toMatchObject({ verdict: 'passed', contradicted: 0, bad_runs: 0 })
  })
})
