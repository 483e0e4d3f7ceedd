import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Exploration } from '../../src/explore/exploration.ts'
import { run } from '../cli/command.ts'

const IMPATIENT = fileURLToPath(new URL('clients/impatient.mjs', import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'yield-sandbox-random-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('explore --random', () => {
  test('finds what takes two faults, and keeps the fewest as a scenario that does it again', async () => {
    const report = join(folder, 'report.json')
    const files = ['--save', folder, '--report', report, '--results', join(folder, 'results.jsonl')]
    const wish = [
      '--faults',
      'error,drop_connection',
      '--only',
      'list_portfolios,deposit',
      '--random',
      '15',
      '--seed',
      '7',
    ]
    const ended = await run(['explore', ...files, ...wish, '--', process.execPath, IMPATIENT])
    expect(ended).toMatchObject({ code: 3 })
    expect(ended.stderr).toMatch(/of the \d faults are enough: /)

    const { results } = JSON.parse(await readFile(report, 'utf8')) as Exploration
    const failed = results.filter(({ outcome }) => outcome === 'paid_twice')
    // A single fault never makes this client pay twice.
    expect(results.filter(({ trial }) => trial.harms.length === 1).map(({ outcome }) => outcome)).not.toContain(
      'paid_twice',
    )
    expect(failed.length).toBeGreaterThan(0)
    for (const { smallest, trial } of failed) {
      expect(smallest).toMatchObject({ minimal: true, file: expect.stringContaining(folder) })
      const places = smallest!.harms.map(({ position }) => `${position.operation} ${position.ordinal}`)
      expect(places).toEqual(['deposit 1', 'deposit 2'])
      for (const harm of smallest!.harms) expect(trial.harms).toContainEqual(harm)
    }

    const saved = (await readdir(folder)).filter((name) => name.endsWith('.yaml'))
    expect(saved.length).toBe(new Set(failed.map(({ smallest }) => smallest!.file)).size)
    expect(new Set(failed.map(({ smallest }) => JSON.stringify(smallest!.harms))).size).toBe(saved.length)
    const [{ smallest, repeat } = { repeat: '' }] = failed
    expect(repeat).toMatch(
      /^yield-sandbox explore --trial 'random-\d+ of seed 7: deposit#1@alice \S+ \+ deposit#2@alice \S+' --seed 7 /,
    )
    const client = `'${process.execPath}' '${IMPATIENT}'`
    const again = await run(['exec', '--scenario', smallest!.file, '--', 'sh', '-c', `${client} && ${client} count`])
    expect(again.stdout).toBe('deposits 2\n')
  })
})
