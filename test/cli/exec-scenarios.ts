import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runHere } from './in-process.ts'

export const SCENARIOS = ['dropped-deposit', 'slow-confirmation', 'dropped-withdraw'].flatMap((name) => [
  '--scenario',
  name,
])

/** Runs a client that asks for the pools in several scenarios, so many at a time: they give one table, one report and one code. */
export async function expectOneReport(
  jobs: '1' | '3',
  directory: string,
  pools: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  const report = join(directory, 'new', jobs, 'report.json')
  const flags = [...SCENARIOS, '--jobs', jobs, '--report', report]
  const command = ['sh', '-c', 'echo one; echo two >&2; exec "$@"', 'sh', ...pools]
  const { code, stdout, stderr } = await runHere(['exec', ...flags, '--', ...command], env)
  expect(code).toBe(4)
  expect(stdout.match(jobs === '1' ? /one\n200\n/g : /one\ntwo\n200\n/g)).toHaveLength(3)
  expect(stderr.match(/^yield-sandbox: scenario (dropped-deposit|slow-confirmation|dropped-withdraw)$/gm)).toHaveLength(
    3,
  )
  expect(stderr).toMatch(/^scenario +verdict +command's code +kept +broken +not tested +seconds +why$/m)
  expect(stderr).toMatch(/^dropped-deposit +inconclusive +0 +\d+ +0 +\d+ +\d+\.\d +\S.*$/m)
  const merged = JSON.parse(await readFile(report, 'utf8'))
  expect(merged).toMatchObject({ verdict: 'inconclusive', contradicted: 0 })
  expect(merged.reports.map(({ scenario }: { scenario: string }) => scenario)).toEqual([
    'dropped-deposit',
    'slow-confirmation',
    'dropped-withdraw',
  ])
}
