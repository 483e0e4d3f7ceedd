import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFailed, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { ControlClient } from '../../src/control/client.ts'
import { ROOT } from '../cli/command.ts'
import { eventually } from '../helpers/eventually.ts'
import { partnerAt } from '../helpers/partner.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { FleetProcess, PUBLIC } from './processes.ts'

const { services } = parse(readFileSync(join(ROOT, 'deploy/compose-fleet.yaml'), 'utf8'), { merge: true })
const TOKEN = 'c'.repeat(64)
const SECRETS: Record<string, string> = {
  YIELD_SANDBOX_DATABASE_PASSWORD: 'd'.repeat(64),
  YIELD_SANDBOX_CONTROL_TOKEN: TOKEN,
  YIELD_SANDBOX_PUBLIC_URL: PUBLIC,
}

/** The variables of a service as Compose fills them in; throws if one of them that must be given is not. */
function environmentOf(service: { environment: Record<string, string> }): Record<string, string> {
  const filled = (value: string) =>
    value.replaceAll(/\$\{(\w+):\?[^}]+\}/g, (_, name: string) => SECRETS[name] ?? expect.fail(`${name} is not given`))
  return Object.fromEntries(Object.entries(service.environment).map(([name, value]) => [name, filled(value)]))
}

/** Flags of a process, at addresses of this machine alone and at ports that are free. */
const flagsOf = (service: { command: string[] }) => [
  ...service.command.map((flag) => (flag === '0.0.0.0' ? '127.0.0.1' : flag)),
  ...['--port', '0', '--fleet-port', '0'],
]

/** Exit code of the health check in the image, of this process. */
async function healthOf({ child }: FleetProcess): Promise<number> {
  const script = join(ROOT, 'scripts/healthcheck.mjs')
  return promisify(execFile)(process.execPath, [script, String(child.pid)]).then(
    () => 0,
    ({ code }) => code,
  )
}

test.skipIf(noPostgres)(
  `the processes of the Compose file, on its database: healthy, each passes on and takes over, and they end within the grace${noPostgres ? ` (${noPostgres})` : ''}`,
  async () => {
    const server = await Postgres.start(['password_encryption=scram-sha-256'])
    onTestFinished(() => server.stop())
    const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD } = environmentOf(services.database)
    await server.ask(`create role ${POSTGRES_USER} login password '${POSTGRES_PASSWORD}'`)
    await server.ask(`create database ${POSTGRES_DB} owner ${POSTGRES_USER}`)
    const started = async (service: { environment: Record<string, string>; command: string[] }) => {
      const { YIELD_SANDBOX_DATABASE, ...environment } = environmentOf(service)
      const database = YIELD_SANDBOX_DATABASE!.replace('@database/', `@127.0.0.1:${server.port}/`)
      const process = await FleetProcess.start(database, { flags: flagsOf(service), environment })
      onTestFinished(() => void process.end())
      onTestFailed(() => console.error(process.log.join('\n')))
      return process
    }
    const one = await started(services.one)
    const two = await started(services.two)
    expect([await healthOf(one), await healthOf(two)]).toEqual([0, 0])

    const control = ({ url }: FleetProcess) => new ControlClient(url, { controlToken: TOKEN })
    await expect(new ControlClient(one.url).namespaces()).rejects.toThrow(/token/)
    const made = await control(one).createNamespace({ name: 'payments' })
    const at = (process: FleetProcess) => {
      const address = { base_url: process.url, auth_url: `${process.url}/oauth2/token` }
      return partnerAt({ ...made, ...address }, 'acme', control(process).in('payments'))
    }
    const portfolio = await at(two).open('zoe')
    expect((await at(two).deposit('zoe', portfolio, '1000')).status).toBe(200)
    const deposits = ({ log }: FleetProcess) => log.filter((line) => line.includes('end_users/zoe/deposit')).length
    await eventually(() => expect(deposits(one)).toBe(1))
    expect(deposits(two)).toBe(0) // it passed it on

    const ended = once(one.child, 'exit')
    one.signal('SIGTERM')
    expect(await ended).toEqual([0, null])
    await eventually(async () => expect((await at(two).deposit('zoe', portfolio, '500')).status).toBe(200))
    expect((await at(two).get('end_users/zoe/portfolios')).body.data).toMatchObject([{ deposited: '1500' }])
    expect(await eventually(() => control(two).in('payments').audit())).toMatchObject({ ok: true })
    expect(await healthOf(one)).toBe(1)
  },
)
