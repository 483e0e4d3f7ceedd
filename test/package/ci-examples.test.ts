import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { execCommand } from '../../src/cli/exec-command.ts'
import { loadBaseline } from '../../src/exec/baseline.ts'
import { parseRename } from '../../src/exec/command-environment.ts'
import { readFault } from '../../src/exec/exec.ts'
import { reportFile } from '../../src/exec/report-files.ts'
import { findScenario } from '../../src/scenarios/find-scenario.ts'
import { ROOT } from '../cli/command.ts'
import { shellWordsOf } from './shell-words.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Reads the flags of a line, as the command line does; throws when one is wrong. */
async function check(line: string): Promise<{ report: string[] }> {
  const [before = '', after = ''] = line.split(' -- ')
  const command = execCommand().exitOverride()
  const args = shellWordsOf(before).slice(shellWordsOf(before).indexOf('exec') + 1)
  expect(command.parseOptions(args)).toEqual({ operands: [], unknown: [] })
  expect(shellWordsOf(after)).not.toEqual([])
  const flags = command.opts()
  flags.fault.map(readFault)
  flags.env.map(parseRename)
  flags.report.map(reportFile)
  for (const name of flags.scenario) await findScenario(name)
  return { report: flags.report }
}

describe('the examples for CI', () => {
  test('on GitHub run exec, and keep every report that it writes', async () => {
    const workflow = parse(read('examples/ci/github-actions.yml'))
    const { steps } = workflow.jobs.sandbox
    const lines = steps.flatMap(({ run = '' }) => (run.includes('yield-sandbox exec') ? [run] : []))
    expect(lines).toHaveLength(1)
    const { report } = await check(lines[0])
    const uploads = JSON.stringify(steps.slice(-3))
    expect(report.filter((file) => file.endsWith('.md') || file.endsWith('.sarif'))).toHaveLength(2)
    for (const file of report) expect(uploads).toContain(/\.(md|sarif)$/.test(file) ? file : 'reports/')
    for (const { if: when } of steps.slice(-3)) expect(when).toMatch(/^always\(\)/)
  })

  test('on GitLab likewise', async () => {
    const { yield: job } = parse(read('examples/ci/gitlab-ci.yml'))
    const lines = job.script.filter((line: string) => line.includes('yield-sandbox exec'))
    expect(lines).toHaveLength(1)
    const { report } = await check(lines[0])
    const { artifacts } = job
    expect(artifacts).toMatchObject({ when: 'always' })
    expect([...artifacts.paths, artifacts.reports.junit].toSorted()).toEqual(report.toSorted())
  })
})

describe.each(['docs/exec.md', 'README.md'])('%s', (page) => {
  test('has commands that can be given', async () => {
    const lines = read(page).match(/^(npx )?yield-sandbox exec .*$/gm) ?? []
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) await check(line)
  })
})

describe('docs/exec.md', () => {
  test('names every flag', () => {
    const documented = new Set(read('docs/exec.md').match(/--[a-z][a-z-]+/g))
    expect(execCommand().options.flatMap(({ long }) => (documented.has(long ?? '') ? [] : [long]))).toEqual([])
  })

  test('has a baseline that is sound', async () => {
    const [, content = ''] = /```yaml baseline\n(.*?)```/s.exec(read('docs/exec.md')) ?? []
    const directory = mkdtempSync(join(tmpdir(), 'baseline-'))
    const file = join(directory, 'baseline.yaml')
    try {
      writeFileSync(file, content)
      expect(await loadBaseline(file)).toHaveLength(2)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})

test('every image and action is named by what it holds, since a tag may come to name another', () => {
  const named = ['Dockerfile', 'examples/ci/github-actions.yml', 'examples/ci/gitlab-ci.yml'].flatMap((file) =>
    [...read(file).matchAll(/^\s*(?:FROM|(?:- )?(?:uses|image):)\s+(\S+)/gm)].map(([, name = '']) => name),
  )
  expect(named).toHaveLength(7)
  for (const name of named) expect(name).toMatch(/@(?:sha256:[0-9a-f]{64}|[0-9a-f]{40})$/)
})
