import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { certificateSummary } from '../../src/certify/certificate.ts'
import { renderCertificateText } from '../../src/certify/render/render-text.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { isBad } from '../../src/explore/judge/judge-trial.ts'
import { seconds } from '../../src/explore/render/sentence.ts'
import { shippedScenarios } from '../../src/scenarios/find-scenario.ts'
import { ENV } from '../explore/exploring.ts'
import { type BuiltClients, buildClients } from '../verdict/clients/build-clients.ts'
import { certified } from './certified.ts'

// npm run test:certify sets these.
const times = Number(process.env.CERTIFY_TIMES ?? 0)
const jobs = Number(process.env.CERTIFY_JOBS ?? 2)
// Half of the time, runs wait for a client's patience: another seed works meanwhile.
vi.setConfig({ maxConcurrency: Number(process.env.CERTIFY_AT_ONCE ?? 2) })

describe.runIf(times > 0).concurrent('the reference client in TypeScript is certified', () => {
  let clients: BuiltClients
  beforeAll(async () => {
    clients = await buildClients()
  })
  afterAll(() => clients[Symbol.asyncDispose]())

  test.each(Array.from({ length: times }, (_, i) => i + 1))('with seed %i', { timeout: 3_600_000 }, async (seed) => {
    const { command, args } = clients.typescript
    const clock = new SandboxClock()
    const began = clock.wallNow()
    const say = (line: string) => console.log(`seed ${seed}, ${seconds(clock.wallNow() - began)}: ${line}`)
    const certificate = await certified([command, ...args], {
      ...{ env: ENV, jobs, options: { confirmationDelay: 0, seed }, scenarios: await shippedScenarios(), say },
      explored: () => say('the exploration is over'),
      watch: {
        baseline: () => undefined,
        planned: (_, trials) => say(`${trials.length} runs with a fault`),
        tried: ({ level, trial, sentences }) => isBad(level) && say(`${trial.id}: ${sentences.join('; ')}`),
      },
    })
    say(renderCertificateText(certificate))
    expect(certificateSummary(certificate.evidence)).toMatchObject({ verdict: 'passed', contradicted: 0, bad_runs: 0 })
  })
})
