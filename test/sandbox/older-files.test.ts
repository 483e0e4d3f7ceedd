import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { Partner } from '../helpers/partner.ts'

/** Each line of the log, as far as it says how a directory was left. */
function auditLog() {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
  return { logger, said: () => lines.filter(({ msg }) => /not closed in order/.test(String(msg))) }
}

async function start(dataDir: string, logger?: ReturnType<typeof auditLog>['logger']): Promise<SandboxHandle> {
  const sandbox = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7, dataDir, ...(logger && { logger }) })
  onTestFinished(() => sandbox.stop())
  return sandbox
}

/** As a kill would leave it. */
function asKilled(dataDir: string): string {
  const copy = join(temporaryDirectory(), 'data')
  cpSync(dataDir, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  return copy
}

test('any file of an earlier moment beside newer ones is refused at start, after a clean end and after a kill', async () => {
  const dataDir = join(temporaryDirectory(), 'data')
  const first = await start(dataDir)
  const partner = new Partner(first)
  const portfolio = await partner.open('zoe')
  expect((await partner.deposit('zoe', portfolio, '1000000')).status).toBe(200)
  await first.stop()
  const files = ['ledger.journal', 'chain-31337.journal', 'manifest.json']
  const earlier = files.map((file) => readFileSync(join(dataDir, file)))

  const second = await start(dataDir)
  const again = new Partner(second)
  for (let i = 0; i < 3; i++) expect((await again.deposit('zoe', portfolio, '1000000')).status).toBe(200)
  const killed = asKilled(dataDir)
  await second.stop()

  for (const directory of [dataDir, killed]) {
    for (const [i, file] of files.entries()) {
      const path = join(directory, file)
      const newer = readFileSync(path)
      writeFileSync(path, earlier[i]!)
      await expect(start(directory)).rejects.toThrow(`${path}: it is older than `)
      expect(readFileSync(path).equals(earlier[i]!)).toBe(true)
      writeFileSync(path, newer)
    }
    const sandbox = await start(directory)
    const { body } = await new Partner(sandbox).get('end_users/zoe/portfolios')
    expect(body.data).toMatchObject([{ deposited: '4000000' }])
    await sandbox.stop()
  }
  expect(readdirSync(dataDir).some((name) => name.endsWith('.tmp'))).toBe(false)
})

test('a directory that was not closed in order is audited, in the log; one that was is not', async () => {
  const dataDir = join(temporaryDirectory(), 'data')
  const first = await start(dataDir)
  await first.namespaces.create({ name: 'mine' })
  const killed = asKilled(dataDir)
  await first.stop()

  const clean = auditLog()
  const second = await start(dataDir, clean.logger)
  expect((await second.audit()).ok).toBe(true)
  expect(clean.said()).toEqual([])

  const unclean = auditLog()
  const third = await start(killed, unclean.logger)
  await expect.poll(unclean.said).toMatchObject([{ namespace: 'default', level: 30 }])
  await fetch(new URL('/_sandbox/namespaces/mine/clock', third.baseUrl))
  await expect.poll(unclean.said).toMatchObject([{ namespace: 'default' }, { namespace: 'mine', level: 30 }])
  expect(existsSync(killed)).toBe(true)
})
