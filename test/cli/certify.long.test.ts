import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeClients } from './exec-clients.ts'
import { runHere } from './in-process.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-certify-'))
})
afterAll(() => rm(directory, { recursive: true }))

// Its client asks for the pools and waits for ever where it gets no answer: a run that hangs takes the twenty seconds, which any
// other has on a busy machine as well.
test('certify takes --before, --restarts and --verbose, and the page names them', async () => {
  const [page, prepared] = [join(directory, 'own', 'page.html'), join(directory, 'prepared')]
  const flags = [
    '--output',
    page,
    '--timeout',
    '20s',
    '--before',
    'echo >> "$PREPARED"',
    '--restarts',
    '1',
    '--verbose',
    '--json',
  ]
  const ended = await runHere(['certify', ...flags, '--', ...writeClients(directory)('pools')], { PREPARED: prepared })
  expect(ended.stderr).toMatch(/^✗ list_pools#1 hang-on-request: hung/m)
  expect(ended.stderr).toMatch(/^· A transfer whose outcome is unknown moves its money once \(single-transfer\)$/m)
  expect(ended.stderr).toMatch(/^\? slow-confirmation: inconclusive, the command ended well$/m)
  expect(ended.stderr).toMatch(
    /^yield-sandbox: scenario dropped-deposit: Inconclusive: the required finding \S+ was not/m,
  )
  expect(ended.code).toBe(3)
  expect(JSON.parse(ended.stdout)).toEqual(JSON.parse(await readFile(page.replace('.html', '.json'), 'utf8')))
  const [, runs] = /, (\d+) runs$/m.exec(ended.stderr) ?? []
  // Without a fault twice, and once more to see whether it can be started again; once with each, and once in each of twelve scenarios.
  expect(await readFile(prepared, 'utf8')).toHaveLength(3 + Number(runs) + 12)
  const same = `--timeout 20000ms --before 'echo >> &quot;$PREPARED&quot;' --restarts 1 -- `
  expect(await readFile(page, 'utf8')).toContain(`yield-sandbox certify --seed 1 --clock 2026-01-01T00:00:00Z ${same}`)
  expect(await readFile(page, 'utf8')).toContain(`exec --scenario idp-token-expiry --seed 1 ${same}`)
  const verified = await runHere(['certify', '--verify', page.replace('.html', '.json')])
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining(': intact: ') })
})
