import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { ControlClient } from '../../../src/control/client.ts'
import type { Credentials, SandboxHandle, ScenarioFile } from '../../../src/index.ts'
import { handleOf } from '../../../src/library/handle.ts'
import { evidenceOf } from '../../../src/sandbox/evidence-of.ts'
import { Sandbox } from '../../../src/sandbox/sandbox.ts'
import type { FindingId } from '../../../src/verdict/finding-ids.ts'
import { FINDINGS } from '../../../src/verdict/findings/index.ts'
import { type Judged, judge } from '../../../src/verdict/judge.ts'
import type { ClientProgram } from './build-clients.ts'
import type { Exercise } from './wrong-clients.ts'

/** What a run of some clients came to. */
export interface Rehearsal {
  findings: { id: FindingId; judged: Judged }[]
  /** Of each client. */
  codes: (number | null)[]
  output: string
  /** Whether API, ledger and chain agree. */
  sound: boolean
}

/** A sandbox in which clients are tried, each try in a namespace of its own. */
export class Stage implements AsyncDisposable {
  readonly #sandbox: Sandbox
  readonly #handle: SandboxHandle

  private constructor(sandbox: Sandbox, handle: SandboxHandle) {
    this.#sandbox = sandbox
    this.#handle = handle
  }

  static async open(): Promise<Stage> {
    const sandbox = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7 })
    await sandbox.ready
    const stop = () => sandbox.stop()
    const client = new ControlClient(sandbox.baseUrl, { fetch: sandbox.fetch })
    return new Stage(sandbox, await handleOf(client, { fetch: sandbox.fetch, stop, dispose: stop }))
  }

  /** Runs the programs at once under the exercise and judges them together. */
  async rehearse(programs: readonly ClientProgram[], exercise: Exercise, seed = 7): Promise<Rehearsal> {
    const { confirmationDelay = '0', scenario, faults = [], attempts } = exercise
    await using namespace = await this.#handle.namespaces.create({ seed, confirmationDelay })
    if (scenario) await namespace.scenarios.start(await scenarioOf(scenario))
    if (faults.length > 0) await namespace.faults.add(...faults)
    const env = environmentOf(await namespace.credentials(), attempts)
    const runs = await Promise.all(programs.map((program) => run(program, env)))
    const evidence = await evidenceOf(await this.#sandbox.namespaces.get(namespace.namespace), true)
    return {
      findings: FINDINGS.map((finding) => ({ id: finding.id, judged: judge(finding, evidence) })),
      codes: runs.map(({ code }) => code),
      output: runs.map(({ output }) => output).join('\n'),
      sound: (await namespace.audit()).ok,
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.stop()
  }
}

async function scenarioOf(name: string): Promise<string | ScenarioFile> {
  if (!name.endsWith('.yaml')) return name
  const file = new URL(`../../../examples/wrong-clients/${name}`, import.meta.url)
  return parse(await readFile(file, 'utf8')) as ScenarioFile
}

/** As `yield-sandbox exec` sets it, but for the end user: each client takes one of its own. */
function environmentOf(credentials: Credentials, attempts: number | undefined): NodeJS.ProcessEnv {
  const { base_url, auth_url, scope, audience, rpc_urls, tenants } = credentials
  const [tenant] = tenants
  if (!tenant?.kid || !tenant.private_key_pem) throw new Error('the first tenant has a key pair')
  return {
    PATH: process.env.PATH,
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
    ...(attempts !== undefined && { DEMO_ATTEMPTS: String(attempts) }),
  }
}

/** No client takes so long, but one that goes in circles. */
const LONGEST_MS = 100_000

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
