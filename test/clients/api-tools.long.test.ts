import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { ROOT } from '../cli/command.ts'
import { testSandbox } from '../helpers/partner.ts'

const CONTROL_TOKEN = 'a-control-token-for-api-tools'
/** Words of npm where its registry is out of reach. */
const OUT_OF_REACH =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b/

let sandbox: SandboxHandle
let folder: string
beforeAll(async () => {
  sandbox = await testSandbox({ controlToken: CONTROL_TOKEN })
  folder = await mkdtemp(join(tmpdir(), 'api-tools-'))
  await cp(join(ROOT, 'examples', 'api-tools'), folder, { recursive: true })
})
afterAll(() => Promise.all([sandbox.stop(), rm(folder, { recursive: true })]))

interface Finished {
  status: number | null
  output: string
}

function run(command: string, args: string[], cwd: string): Promise<Finished> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const status = error ? (typeof error.code === 'number' ? error.code : null) : 0
      resolve({ status, output: `${stdout}${stderr}` })
    })
  })
}

/** Installs a package into a folder of its own and returns the path of its command. Where there is no registry, the test is skipped. */
async function installed(name: string, command: string, { skip }: TestContext): Promise<string> {
  const place = await mkdtemp(join(folder, 'tool-'))
  await writeFile(join(place, 'package.json'), '{ "private": true }')
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--fetch-retries=1']
  const { status, output } = await run('npm', ['install', ...quiet, name], place)
  if (status !== 0 && OUT_OF_REACH.test(output)) skip(`npm's registry cannot be reached, so there is no ${name}`)
  expect({ status, output }).toMatchObject({ status: 0 })
  return join(place, 'node_modules', '.bin', command)
}

/** The command ends well, having moved money twice, each time under a key of its own. */
async function expectWholeRun(command: string, args: string[], cwd = folder): Promise<void> {
  await sandbox.reset()
  const { status, output } = await run(command, args, cwd)
  expect({ status, output }).toMatchObject({ status: 0 })
  const { data } = await sandbox.requests.list()
  const seen = data.map(({ operation, response }) => `${operation} ${response?.status}`)
  expect(new Set(seen)).toEqual(
    new Set([
      'token 200',
      'list_pools 200',
      'create_end_user 201',
      'create_portfolio 201',
      'deposit 200',
      'list_portfolios 200',
      'list_transactions 200',
      'withdraw 200',
    ]),
  )
  const keys = data.flatMap(({ idempotency }) => idempotency?.key ?? [])
  expect(new Set(keys).size).toBe(3)
  expect(await sandbox.audit()).toMatchObject({ ok: true })
}

test('Postman: the collection runs in newman', async (context) => {
  const newman = await installed('newman@6.2.2', 'newman', context)
  const variables = [`control_url=${sandbox.controlUrl}`, `control_token=${CONTROL_TOKEN}`]
  const given = variables.flatMap((one) => ['--env-var', one])
  await expectWholeRun(newman, ['run', 'yield-sandbox.postman_collection.json', ...given])
})

test('Bruno: the collection runs in its command', async (context) => {
  const bru = await installed('@usebruno/cli@4.1.0', 'bru', context)
  const variables = [`control_url=${sandbox.controlUrl}`, `control_token=${CONTROL_TOKEN}`]
  const given = ['--env', 'local', ...variables.flatMap((one) => ['--env-var', one])]
  await expectWholeRun(bru, ['run', ...given], join(folder, 'bruno'))
})

test('.http: the file runs in httpyac', async (context) => {
  const httpyac = await installed('httpyac@6.16.7', 'httpyac', context)
  const file = join(folder, 'yield-sandbox.http')
  const text = await readFile(file, 'utf8')
  const changed = text
    .replace(/^@control_url = .*$/m, `@control_url = ${sandbox.controlUrl}`)
    .replace(/^@control_token = .*$/m, `@control_token = ${CONTROL_TOKEN}`)
  await writeFile(file, changed)
  await expectWholeRun(httpyac, ['send', 'yield-sandbox.http', '--all', '--bail'])
})
