import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { ControlClient } from '../../../src/control/client.ts'
import type { Credentials, ScenarioFile } from '../../../src/index.ts'
import { evidenceOf } from '../../../src/sandbox/evidence-of.ts'
import { Sandbox } from '../../../src/sandbox/sandbox.ts'
import type { Report } from '../../../src/verdict/report.ts'
import { eventually } from '../../helpers/eventually.ts'
import type { ClientProgram } from './build-clients.ts'
import { outcomeOf, type Recording } from './recording.ts'
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
  recording: Recording
}

/** A sandbox in which clients are tried, each trial in a namespace of its own. */
export class Stage implements AsyncDisposable {
  readonly #sandbox: Sandbox
  readonly #control: ControlClient

  private constructor(sandbox: Sandbox) {
    const { baseUrl, fetch, options } = sandbox
    this.#sandbox = sandbox
    this.#control = new ControlClient(baseUrl, { controlToken: options.controlToken, fetch })
  }

  static async open(): Promise<Stage> {
    const sandbox = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7 })
    await sandbox.ready
    return new Stage(sandbox)
  }

  /** Names of the scenarios there are. */
  async scenarios(): Promise<string[]> {
    return (await this.#control.scenarios()).scenarios.map(({ name }) => name)
  }

  /** Runs the programs and judges them together. */
  async perform({ programs, seed, scenario, faults = [], ...rest }: Trial): Promise<Outcome> {
    const { confirmationDelay = '0', attempts, externalId } = rest
    const credentials = await this.#control.createNamespace({
      confirmation_delay: confirmationDelay,
      ...(seed && { seed }),
    })
    const own = this.#control.in(credentials.namespace)
    await using _ = { [Symbol.asyncDispose]: () => this.#control.deleteNamespace(credentials.namespace) }
    if (scenario) await own.startScenario(await scenarioOf(scenario))
    if (faults.length > 0) await own.addFaults(faults)
    const env = {
      ...environmentOf(credentials),
      ...(attempts !== undefined && { DEMO_ATTEMPTS: String(attempts) }),
      ...(externalId !== undefined && { YIELD_EXTERNAL_ID: externalId }),
    }
    const runs = await Promise.all(programs.map((program) => run(program, env)))
    const end = runs.every(({ code }) => code === 0) ? 'well' : 'failed'
    const namespace = await this.#sandbox.namespaces.get(credentials.namespace)
    const { current } = namespace.services.scenarios
    const recording: Recording = {
      evidence: await evidenceOf(namespace, { ended: true, end }),
      scenario: current && { name: current.name, expect: current.expect },
      seed: namespace.seed,
      codes: runs.map(({ code }) => code),
      // A chain that was too busy to answer is replaced by another one.
      sound: (await eventually(() => own.audit())).ok,
    }
    return { ...(await outcomeOf(recording)), output: runs.map(({ output }) => output).join('\n') }
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
