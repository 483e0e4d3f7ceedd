import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch, launchBareFastify, launchSandbox, processorTimeOf } from './support/processes.mjs'
import { launchAnvil } from './support/raw-anvil.mjs'
import { alternate, median } from './support/stats.mjs'

const ROUNDS = 9
const BRIEF_ROUNDS = 7
const MOCKOON = 'Mockoon CLI, one static route'

/**
 * Milliseconds from the start of the process until it is ready, beside Mockoon CLI with one static route and the parts the
 * sandbox is made of. `mockoon` is the path of its command; by default npx is asked for it.
 */
export async function startup({ brief, mockoon = brief ? undefined : findMockoon() }) {
  const directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-bench-'))
  try {
    const environment = join(directory, 'mockoon.json')
    writeFileSync(environment, JSON.stringify(MOCKOON_ENVIRONMENT))
    const times = new ReadyTimes()
    const measurements = {
      sandbox: times.of('sandbox', () => launchSandbox()),
      ...(mockoon && { mockoon: times.of('mockoon', () => launchMockoon(mockoon, environment)) }),
      fastify: times.of('fastify', () => launchBareFastify('{}')),
      anvil: times.of('anvil', () => launchAnvil()),
      node: times.of('node', () => launch(process.execPath, ['--eval', 'console.log()'])),
    }
    await alternate(measurements, 1) // fills the disk's cache
    times.forget()
    const waited = await alternate(measurements, brief ? BRIEF_ROUNDS : ROUNDS)
    const worked = times.processorTimes()
    const row = { what: 'ready from process start', value: waited.sandbox, unit: 'ms' }
    const beside = (name, reference, aim) => ({ ...row, beside: name, reference, aim })
    const own = { what: 'processor time of its own until then', value: worked.sandbox, unit: 'ms' }
    return [
      ...(mockoon ? [beside(MOCKOON, waited.mockoon, '<= 0.55')] : []),
      ...(mockoon || brief
        ? []
        : [{ ...row, beside: MOCKOON, note: 'npx finds no @mockoon/cli; pass --mockoon <path>' }]),
      beside('bare Fastify', waited.fastify),
      beside('bare Anvil', waited.anvil),
      beside('Node doing nothing', waited.node),
      ...(mockoon && worked.mockoon ? [{ ...own, beside: MOCKOON, reference: worked.mockoon }] : []),
      ...(worked.fastify ? [{ ...own, beside: 'bare Fastify', reference: worked.fastify }] : []),
    ]
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Measures starts: how long they take, and what the started process worked until then, which other work on the machine disturbs less. */
class ReadyTimes {
  #worked = {}

  /** A measurement of the milliseconds until one is ready. */
  of(name, start) {
    return async () => {
      const { milliseconds, child, stop } = await start()
      this.#worked[name] ??= []
      this.#worked[name].push(processorTimeOf(child.pid))
      await stop()
      return milliseconds
    }
  }

  forget() {
    this.#worked = {}
  }

  /** The medians, in milliseconds; undefined where the system does not say. */
  processorTimes() {
    const known = Object.entries(this.#worked).filter(([, times]) => !times.includes(undefined))
    return Object.fromEntries(known.map(([name, times]) => [name, median(times)]))
  }
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
