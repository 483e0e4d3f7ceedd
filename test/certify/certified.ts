import type { Certificate } from '../../src/certify/certificate-document.ts'
import { type CertifyTerms, certify } from '../../src/certify/certify.ts'
import { abortController } from '../../src/support/waiting.ts'

/** Nobody interrupts a test. */
const NEVER = { asked: abortController().signal, insisted: abortController().signal }

/** Certifies a command with what the command line takes by default, without showing anything. */
export async function certified(command: readonly string[], wish: Partial<CertifyTerms>): Promise<Certificate> {
  const nothing = () => undefined
  const certificate = await certify({
    command,
    before: undefined,
    renames: [],
    env: { PATH: process.env.PATH },
    interruption: NEVER,
    options: { confirmationDelay: 0, seed: 1 },
    clock: '2026-01-01T00:00:00Z',
    timeout: undefined,
    jobs: 2,
    tolerate: false,
    subject: undefined,
    flags: [],
    fixtures: null,
    kinds: [],
    operations: [],
    scenarios: [],
    out: process.stderr,
    say: nothing,
    explored: nothing,
    watch: { baseline: nothing, planned: nothing, tried: nothing },
    ...wish,
  })
  if (!certificate) throw new Error('nobody interrupts it')
  return certificate
}
