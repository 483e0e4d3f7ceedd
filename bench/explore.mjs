import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inPackage } from './support/processes.mjs'

const SUITE = fileURLToPath(new URL('support/explore-suite.mjs', import.meta.url))

/**
 * A suite of two seconds with ten requests, every fault at every place: what the sandbox takes beside the command, and all of it beside
 * the sum of as many unharmed runs, one after the other.
 */
export async function explore() {
  const folder = await mkdtemp(join(tmpdir(), 'yield-sandbox-bench-'))
  try {
    const report = join(folder, 'explore.json')
    const flags = ['--seed', '7', '--results', join(folder, 'results.jsonl'), '--report', report]
    const command = ['bin/yield-sandbox.js', 'explore', ...flags, '--', process.execPath, SUITE]
    const child = spawn(process.execPath, command, { cwd: inPackage(''), stdio: ['ignore', 'ignore', 'inherit'] })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`explore ended with code ${code}`)
    const { results, baseline, took_ms, jobs } = JSON.parse(await readFile(report, 'utf8'))
    const bare = Math.min(...baseline.took_ms)
    const own = results.reduce((sum, { overhead_ms }) => sum + overhead_ms, 0) / results.length
    const what = `explore, ${results.length} runs of ${baseline.exchanges} requests, ${jobs} at a time`
    return [
      { what: 'explore, own time a run', value: own, unit: 'ms', beside: 'the command alone', reference: bare },
      { what, value: took_ms, unit: 'ms', beside: 'as many bare runs, one by one', reference: bare * results.length },
    ]
  } finally {
    await rm(folder, { recursive: true })
  }
}
