import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { type Credentials, type SandboxHandle, type ScenarioFile, startSandbox } from '../../../src/index.ts'
import type { Report } from '../../../src/verdict/report.ts'
import { eventually } from '../../helpers/eventually.ts'
import type { ClientProgram } from './build-clients.ts'
import type { Exercise } from './wrong-clients.ts'

/** How some clients are tried. */
export interface Trial extends Exercise {
  /** Run at once, as one partner's. */
  programs: readonly ClientProgram[]
  seed?: number
  /** The end user of all of them; each takes one of its own if left out. */
  externalId?: string
}

/** What a trial came to. */
export interface Outcome {
  report: Report
  /** Ids of the findings that failed. */
  failed: string[]
  /** Of each client. */
  codes: (number | null)[]
  /** What the clients printed. */
  output: string
  /** Whether API, ledger and chain agree. */
  sound: boolean
}

/** A sandbox in which clients are tried, each trial in a namespace of its own. */
export class Stage implements AsyncDisposable {
  readonly #sandbox: SandboxHandle

  private constructor(sandbox: SandboxHandle) {
    this.#sandbox = sandbox
  }

  static async open(): Promise<Stage> {
    return new Stage(await startSandbox({ port: 0, confirmationDelay: 0, seed: 7 }))
  }

  /** Names of the scenarios there are. */
  async scenarios(): Promise<string[]> {
    return (await this.#sandbox.scenarios.list()).scenarios.map(({ name }) => name)
  }

  /** Runs the programs and judges them together. */
  async perform({ programs, seed, scenario, faults = [], ...rest }: Trial): Promise<Outcome> {
    const { confirmationDelay = '0', attempts, externalId } = rest
    await using namespace = await this.#sandbox.namespaces.create({ confirmationDelay, ...(seed && { seed }) })
    if (scenario) await namespace.scenarios.start(await scenarioOf(scenario))
    if (faults.length > 0) await namespace.faults.add(...faults)
    const env = {
      ...environmentOf(await namespace.credentials()),
      ...(attempts !== undefined && { DEMO_ATTEMPTS: String(attempts) }),
      ...(externalId !== undefined && { YIELD_EXTERNAL_ID: externalId }),
    }
    const runs = await Promise.all(programs.map((program) => run(program, env)))
    const end = runs.every(({ code }) => code === 0) ? 'well' : 'failed'
    const report = await namespace.report({ end })
    return {
      report,
      failed: report.findings.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id),
      codes: runs.map(({ code }) => code),
      output: runs.map(({ output }) => output).join('\n'),
      // A chain that was too busy to answer is replaced by another one.
      sound: (await eventually(() => namespace.audit())).ok,
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#sandbox.stop()
  }
}

async function scenarioOf(name: string): Promise<string | ScenarioFile> {
  if (!name.endsWith('.yaml')) return name
  const file = new URL(`../../../examples/wrong-clients/${name}`, import.meta.url)
  return parse(await readFile(file, 'utf8')) as ScenarioFile
}

/** As `yield-sandbox exec` sets it, but for the end user. */
function environmentOf(credentials: Credentials): NodeJS.ProcessEnv {
  const { base_url, auth_url, scope, audience, rpc_urls, tenants } = credentials
  const [tenant] = tenants
  if (!tenant?.kid || !tenant.private_key_pem) throw new Error('the first tenant has a key pair')
  return {
    PATH: process.env.PATH,
    PYTHONDONTWRITEBYTECODE: '1',
    YIELD_BASE_URL: base_url,
    YIELD_AUTH_URL: auth_url,
    YIELD_CLIENT_ID: tenant.client_id,
    YIELD_CLIENT_SECRET: tenant.client_secret,
    YIELD_SCOPE: scope,
    YIELD_AUDIENCE: audience,
    YIELD_ISSUER: tenant.issuer,
    YIELD_KEY_ID: tenant.kid,
    YIELD_PRIVATE_KEY_PEM: tenant.private_key_pem,
    YIELD_RPC_URL: Object.values(rpc_urls)[0],
  }
}

/** No client takes so long, but one that goes in circles. */
const LONGEST_MS = 200_000

async function run({ command, args }: ClientProgram, env: NodeJS.ProcessEnv) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: LONGEST_MS })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}
