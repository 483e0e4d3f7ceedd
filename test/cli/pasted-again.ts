import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { Exploration, TrialResult } from '../../src/explore/exploration.ts'
import type { ExploredClient } from './explore-clients.ts'
import { runHere } from './in-process.ts'
import { paste } from './paste.ts'

const resultsIn = (file: string): TrialResult[] => (JSON.parse(readFileSync(file, 'utf8')) as Exploration).results

/** Explores, and pastes what was printed for each of these trials. */
export async function again(
  client: ExploredClient,
  flags: readonly string[],
  env: Record<string, string>,
  wanted: (result: TrialResult) => boolean,
) {
  const report = client.path('report.json')
  const own = ['--results', client.path('results.jsonl'), '--save', client.directory, '--report', report]
  await runHere(['explore', ...own, ...flags, '--', ...client.command], { ...client.env, ...env })
  const results = resultsIn(report).filter(wanted)
  expect(results.length).toBeGreaterThan(0)
  const pasted: { first: TrialResult; second: TrialResult; code: number | null }[] = []
  for (const first of results) {
    const file = client.path('again.json')
    const { code } = await paste(first.repeat.replace(' -- ', ` --report '${file}' -- `), { ...client.env, ...env })
    const [second] = resultsIn(file)
    pasted.push({ first, second: second!, code })
  }
  return pasted
}
