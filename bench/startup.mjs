import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch, launchBareFastify, launchSandbox } from './support/processes.mjs'
import { launchAnvil } from './support/raw-anvil.mjs'
import { alternate } from './support/stats.mjs'

const ROUNDS = 9

/**
 * Milliseconds from the start of the process until it is ready, beside Mockoon CLI with one static route and the parts the
 * sandbox is made of. `mockoon` is the path of its command; by default npx is asked for it.
 */
export async function startup({ mockoon = findMockoon() }) {
  const directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-bench-'))
  try {
    const environment = join(directory, 'mockoon.json')
    writeFileSync(environment, JSON.stringify(MOCKOON_ENVIRONMENT))
    const measurements = {
      sandbox: readyTime(() => launchSandbox()),
      ...(mockoon && { mockoon: readyTime(() => launchMockoon(mockoon, environment)) }),
      fastify: readyTime(() => launchBareFastify('{}')),
      anvil: readyTime(() => launchAnvil()),
      node: readyTime(() => launch(process.execPath, ['--eval', 'console.log()'])),
    }
    await alternate(measurements, 1) // fills the disk's cache
    const { sandbox: value, ...others } = await alternate(measurements, ROUNDS)
    const row = { what: 'ready from process start', value, unit: 'ms' }
    const beside = (name, reference, aim) => ({ ...row, beside: name, ...(reference ? { reference, aim } : {}) })
    return [
      others.mockoon
        ? beside('Mockoon CLI, one static route', others.mockoon, '<= 1')
        : {
            ...row,
            what: 'ready beside Mockoon CLI',
            note: 'skipped: npx finds no @mockoon/cli; pass --mockoon <path>',
          },
      beside('bare Fastify', others.fastify),
      beside('bare Anvil', others.anvil),
      beside('Node doing nothing', others.node),
    ]
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const readyTime = (start) => async () => {
  const { milliseconds, stop } = await start()
  await stop()
  return milliseconds
}

/** The port is not asked for in advance: Mockoon takes 0 for its own default, so a port is drawn. */
async function launchMockoon(mockoon, environment) {
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  const args = ['start', '--data', environment, '--port', String(port)]
  return launch(mockoon, args, (line) => line.includes('Server started'))
}

/** Where npx keeps Mockoon's command; undefined when it cannot be had. */
function findMockoon() {
  try {
    const args = ['exec', '--yes', '--package=@mockoon/cli', '--call', 'command -v mockoon-cli']
    return execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 120_000 }).trim()
  } catch {
    return undefined
  }
}

const MOCKOON_ENVIRONMENT = {
  uuid: '8f1b2c3d-0000-4000-8000-000000000001',
  lastMigration: 33,
  name: 'static',
  hostname: '127.0.0.1',
  routes: [
    {
      uuid: '8f1b2c3d-0000-4000-8000-000000000002',
      type: 'http',
      method: 'get',
      endpoint: 'static',
      responses: [{ uuid: '8f1b2c3d-0000-4000-8000-000000000003', body: '{}', statusCode: 200, default: true }],
    },
  ],
  rootChildren: [{ type: 'route', uuid: '8f1b2c3d-0000-4000-8000-000000000002' }],
}
