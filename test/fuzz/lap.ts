import type { ControlClient } from '../../src/control/client.ts'
import type { Credentials } from '../../src/index.ts'
import type { Findings } from './findings.ts'
import type { Weather } from './weather.ts'

/** What a lap is ended with. */
export interface LapDeps {
  credentials: Credentials
  control: ControlClient
  findings: Findings
}

/** Milliseconds within which everything has to be well again once faults are gone. */
const RECOVERY = 30_000

const NO_EXAMPLE = { index: -1, bytes: Buffer.alloc(0) }

/**
 * After a lap, the money of those who were left alone adds up, and a reset makes everything as it was, within so many
 * milliseconds.
 */
export async function closeLap(deps: LapDeps, weather: Weather, limit: number): Promise<void> {
  const { control } = deps
  const damage = (what: string, reason: string) =>
    deps.findings.add('all', what, { kind: 'damage', reason }, NO_EXAMPLE)
  const attempt = (what: string, act: () => Promise<void>) =>
    act().catch((error: unknown) => damage(what, String(error).slice(0, 300)))
  await attempt('faults after a lap', () => clearFaults(control))
  if (weather === 'clear') await attempt('audit after a lap', () => expectTrueAudit(control))
  if (weather === 'calm') await attempt('audit after a lap', () => expectTrueAudit(control).catch(unlessSouthIsAway))
  const begun = performance.now()
  await attempt('reset after a lap', async () => {
    await control.reset()
  })
  const took = Math.round(performance.now() - begun)
  if (took > limit) damage('reset after a lap', `over ${limit} ms`)
  await attempt('ready after a reset', () => expectReady(deps.credentials))
}

/** What is broken of a chain is mended when the chain can be reached, which may take longer than one request waits. */
async function clearFaults(control: ControlClient): Promise<void> {
  const deadline = performance.now() + RECOVERY
  for (;;) {
    try {
      return await control.clearFaults()
    } catch (error) {
      if (!/answered 503/.test(String(error)) || performance.now() > deadline) throw error
    }
  }
}

/** The victim's chain is anybody's: what is wrong there says nothing. */
async function expectTrueAudit(control: ControlClient): Promise<void> {
  const { checks } = await control.audit()
  const wrong = checks.filter(({ ok, detail }) => !ok && !onlyVictims(detail))
  if (wrong.length > 0) throw new Error(wrong.map(({ id, detail }) => `${id}: ${detail}`).join('; '))
}

/** An audit needs every chain. */
function unlessSouthIsAway(error: unknown): void {
  if (!/answered 503: chain 31338/i.test(String(error))) throw error
}

function onlyVictims(detail: string): boolean {
  const named = detail
    .split(/; \d+ wrong: |; \d+ not compared with the chain: /)
    .slice(1)
    .join('; ')
    .split('; ')
  return named.every((offence) => /\(victim\)|^and \d+ more$/.test(offence))
}

async function expectReady({ base_url }: Credentials): Promise<void> {
  const deadline = performance.now() + RECOVERY
  for (;;) {
    const response = await fetch(`${base_url}/_sandbox/ready`)
    const text = await response.text()
    if (response.status === 200) return
    if (performance.now() > deadline) throw new Error(`not ready ${RECOVERY} ms after a reset: ${text}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
