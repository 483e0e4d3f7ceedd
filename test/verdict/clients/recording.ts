import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { reportOn } from '../../../src/control/report-of.ts'
import type { Scenario } from '../../../src/scenarios/scenario-schema.ts'
import type { Evidence } from '../../../src/verdict/finding.ts'
import { version } from '../../../src/version.ts'
import type { Outcome } from './stage.ts'

/** All that a judgement of a trial is drawn from. */
export interface Recording extends Pick<Outcome, 'codes' | 'sound'> {
  evidence: Evidence
  scenario: Pick<Scenario, 'name' | 'expect'> | undefined
  seed: number
}

/** Judges what was recorded, as if it had just happened. */
export async function outcomeOf(recording: Recording): Promise<Outcome> {
  const { evidence, scenario, seed, codes, sound } = recording
  const report = await reportOn(evidence, { version, seed, scenario, required: [] })
  const failed = report.findings.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)
  return { report, failed, codes, sound, output: '', recording }
}

const fileOf = (name: string) =>
  new URL(`../recordings/${name.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')}.json.gz`, import.meta.url)

/** Keeps what a trial came to, for {@link readRecording}. Nothing of it may be lost on the way. */
export function keepRecording(name: string, recording: Recording): void {
  const text = JSON.stringify(recording)
  expect(JSON.parse(text)).toEqual(recording)
  writeFileSync(fileOf(name), gzipSync(text, { level: 9 }))
}

/** What `npm run record:clients` has kept of the row of that name. */
export function readRecording(name: string): Recording {
  return JSON.parse(gunzipSync(readFileSync(fileOf(name))).toString())
}

/** What a trial and its recording must have in common, whenever they took place: what was asked and answered, and what was found. */
export function gistOf({ failed, codes, recording }: Outcome) {
  const exchanges = recording.evidence.exchanges.map(
    ({ operation, response }) => `${operation} ${response?.status ?? 'nothing'}`,
  )
  return { failed: failed.toSorted(), codes, exchanges: [...new Set(exchanges)].sort() }
}
