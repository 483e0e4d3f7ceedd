import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ROOT } from '../cli/command.ts'
import { install } from './vitest-pools.ts'

/** Where npm installs the runners that are no dependencies of the project. */
const FOREIGN = join(ROOT, 'test/package/foreign-runners')

/** Has npm install Jest and Playwright, the first time: nobody else needs their packages. */
export function installForeignRunners(): void {
  if (existsSync(join(FOREIGN, 'node_modules/jest'))) return
  const { status, stderr } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: FOREIGN, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

/** What a test of an example does instead of its deposit: it pays twice, and fails. */
const TWICE = `
  await sandbox.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
  const sent = typeof body === 'string' ? body : JSON.stringify(body)
  for (const key of ['3f1c6a52-8f0e-4d5c-9a7b-1c2d3e4f5a6b', '7b9d2e41-0c3f-4a8e-b5d6-9e8f7a6b5c4d'])
    await fetch(alice + '/deposit', { method: 'POST', headers: { ...headers, 'idempotency-key': key }, body: sent }).catch(() => undefined)
  const first = await sandbox.requests.next({ operation: 'deposit' })
  throw new Error('the first one was ' + first.end)
})
`

/** A project with the files of an example, the package as it is published, and packages of test runners. */
export class RunnerProject {
  readonly folder: string

  constructor(example: string, packages: Record<string, string>) {
    this.folder = mkdtempSync(join(tmpdir(), 'runner-'))
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }))
    cpSync(join(ROOT, 'examples/runners', example), this.folder, { recursive: true })
    const modules = join(this.folder, 'node_modules')
    install(join(modules, 'yield-sandbox'))
    mkdirSync(join(modules, '.bin'))
    symlinkSync('../yield-sandbox/bin/yield-sandbox.js', join(modules, '.bin/yield-sandbox'))
    for (const [name, from] of Object.entries(packages)) {
      mkdirSync(join(modules, name, '..'), { recursive: true })
      symlinkSync(join(from, 'node_modules', name), join(modules, name))
    }
  }

  /** Makes the test of the example pay twice and fail. */
  payTwice(): void {
    const name = readdirSync(this.folder).find((file) => /\.(test|spec)\./.test(file)) ?? ''
    const file = join(this.folder, name)
    const source = readFileSync(file, 'utf8')
    writeFileSync(file, source.replace(/\n[^\n]*\/deposit`[^\n]*\n\}\)\n$/, TWICE))
  }

  /** Runs a runner, which sees nothing of the one that this process belongs to. */
  run(program: string, ...args: string[]): { status: number | null; output: string } {
    const ours = /^(VITEST|YIELD_|NODE_TEST|NODE_OPTIONS|JEST)/
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
    const options = {
      cwd: this.folder,
      encoding: 'utf8' as const,
      env: { ...env, NO_COLOR: '1', FORCE_COLOR: '0', CI: '1', SANDBOX_PORT: String(this.port) },
    }
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], options)
    return { status, output: `${stdout}${stderr}` }
  }

  /** Set where the example starts a sandbox of its own. */
  port = 0
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

export { FOREIGN }
