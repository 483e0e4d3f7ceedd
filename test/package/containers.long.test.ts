import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { shellWords } from '../../src/support/foreign-text.ts'
import { ROOT } from '../cli/command.ts'
import { buildClients } from '../verdict/clients/build-clients.ts'

// No container is started here: that takes an engine. What the examples say is done by the means that a container is made of.
const folder = mkdtempSync(join(tmpdir(), 'containers-'))
chmodSync(folder, 0o755) // another user reads there
afterAll(() => rmSync(folder, { recursive: true }))

/** Whether this process may make a network and a file system of its own, and take any user id. */
const mayIsolate = () =>
  spawnSync('unshare', ['--mount', '--net', 'sh', '-c', 'ip link set lo up && setpriv --version']).status === 0

const words = (variables: Record<string, string>) => Object.entries(variables).map(([name, text]) => `${name}=${text}`)

/** What a shell does for both services of the Compose file; `demo` stands beside the app. */
function script(demo: string): string {
  const { sandbox, app } = parse(readFileSync(join(ROOT, 'examples/compose/compose.yaml'), 'utf8')).services
  const [uid, gid] = sandbox.user.split(':')
  const tmp = join(folder, 'tmp')
  const data = join(folder, 'data')
  const hosts = join(folder, 'hosts')
  for (const path of [tmp, data]) mkdirSync(path)
  writeFileSync(hosts, '127.0.0.1 localhost sandbox\n')
  const appFile = join(folder, 'app.mjs')
  const source = readFileSync(join(ROOT, 'examples/compose/app.mjs'), 'utf8')
  expect(source).toContain("'../clients/typescript/demo.ts'")
  writeFileSync(appFile, source.replace('../clients/typescript/demo.ts', demo))
  const user = ['setpriv', '--reuid', uid, '--regid', gid, '--clear-groups', '--no-new-privs', '--bounding-set=-all']
  const as = (env: Record<string, string>, ...command: string[]) =>
    shellWords([...user, 'env', '-i', `PATH=${process.env.PATH}`, ...words(env), ...command])
  const args = sandbox.command.map((word: string) => (word === '/data' ? data : word))
  const image = { NODE_ENV: 'production', YIELD_SANDBOX_HOST: '0.0.0.0', TMPDIR: tmp }
  const node = process.execPath
  return `
    set -euo pipefail
    ip link set lo up
    mount --bind ${hosts} /etc/hosts
    mount -t tmpfs -o mode=1777,noexec,nosuid,nodev tmpfs ${tmp}
    mount -t tmpfs -o mode=1777 tmpfs ${data}
    mount --bind ${shellWords([ROOT])} ${shellWords([ROOT])}
    mount -o remount,bind,ro ${shellWords([ROOT])}
    mount -o remount,bind,ro /
    cd ${shellWords([ROOT])}
    coproc SANDBOX { exec ${as({ ...image, ...sandbox.environment }, node, 'bin/yield-sandbox.js', ...args)}; }
    pid=$SANDBOX_PID output=\${SANDBOX[0]}
    while read -r line <&"$output"; do echo "$line"; [[ $line != *'is ready'* ]] || break; done
    cat <&"$output" >/dev/null &
    ${as({}, node, 'scripts/healthcheck.mjs')} "$pid" && echo healthy
    touch dist/written 2>&1 || true
    ${as({ ...app.environment, DEMO_PAUSE: '0' }, node, appFile)} 2>&1
    stat -c 'owner %u' ${data}/*
    kill -TERM "$pid" && wait "$pid" && echo stopped`
}

describe('the Compose file', () => {
  test('runs with a read-only root, any user id and a volume, and its app finds the service by name', async ({
    skip,
  }) => {
    if (!mayIsolate()) return skip('no file system and network of its own may be made here')
    await using clients = await buildClients([])
    cpSync(dirname(clients.typescript.args[0] ?? ''), join(folder, 'demo'), { recursive: true })
    const isolated = ['--mount', '--net', 'bash', '-c', script('./demo/demo.js')]
    const { stdout } = await promisify(execFile)('unshare', isolated)
    expect(stdout).toMatch(/^healthy$/m)
    expect(stdout).toContain("cannot touch 'dist/written': Read-only file system")
    expect(stdout).toMatch(/^the service is at http:\/\/sandbox:4010$/m)
    expect(stdout.match(/^ok: /gm)).toHaveLength(5)
    expect(stdout).not.toContain('NOT OK')
    expect([...new Set(stdout.match(/^owner \d+$/gm))]).toEqual(['owner 1234'])
    expect(stdout).toMatch(/^stopped$/m)
  })
})

/**
 * Stands in for Testcontainers, as far as the example uses it: the image's command as a process, and another port in front of it, which
 * the sandbox does not know of.
 */
const TESTCONTAINERS = `
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

export const Wait = { forHttp: (path: string, port: number) => ({ path, port }) }

export class GenericContainer {
  #args: string[] = []
  #path = ''
  constructor(readonly image: string) {}
  withCommand(args: string[]) { this.#args = args; return this }
  withExposedPorts(...ports: number[]) { void ports; return this }
  withUser(user: string) { void user; return this }
  withDroppedCapabilities(...capabilities: string[]) { void capabilities; return this }
  withTmpFs(folders: Record<string, string>) { void folders; return this }
  withWaitStrategy({ path }: { path: string; port: number }) { this.#path = path; return this }
  async start() {
    const flags = [...this.#args, '--host', '0.0.0.0', '--port', '0', '--json']
    const child = spawn(process.execPath, [process.env.EXECUTABLE ?? '', ...flags], { stdio: ['ignore', 'pipe', 'ignore'] })
    let line = ''
    while (!line.includes('\\n')) line += (await once(child.stdout, 'data'))[0]
    const inside = Number(new URL(JSON.parse(line).base_url).port)
    const front = createServer((socket) => {
      const behind = connect(inside, '127.0.0.1')
      for (const one of [socket, behind]) one.on('error', () => undefined)
      behind.on('close', () => socket.destroy())
      socket.pipe(behind)
      behind.pipe(socket)
    }).listen(0, '127.0.0.1')
    await once(front, 'listening')
    const { port } = front.address() as { port: number }
    const { status } = await fetch('http://127.0.0.1:' + port + this.#path)
    if (status !== 200) throw new Error('not ready: ' + status)
    return {
      getHost: () => '127.0.0.1',
      getMappedPort: (_: number) => port,
      stop: async () => {
        front.close()
        child.kill()
        await once(child, 'exit')
      },
    }
  }
}
`

describe('the example for Testcontainers', () => {
  const path = join(folder, 'testcontainers')
  cpSync(join(ROOT, 'examples'), join(path, 'examples'), { recursive: true })
  const modules = join(path, 'node_modules')
  mkdirSync(join(modules, 'testcontainers'), { recursive: true })
  symlinkSync(ROOT, join(modules, 'yield-sandbox'))
  symlinkSync(join(ROOT, 'node_modules/@types'), join(modules, '@types'))
  writeFileSync(join(modules, 'testcontainers/index.ts'), TESTCONTAINERS)
  writeFileSync(join(path, 'package.json'), '{ "type": "module" }')
  const manifest = '{ "type": "module", "main": "./index.js", "types": "./index.ts" }'
  writeFileSync(join(modules, 'testcontainers/package.json'), manifest)

  test('compiles, and its test passes by a port that the sandbox does not know of', async () => {
    const main = join(path, 'examples/testcontainers/deposit.test.ts')
    const program = ts.createProgram([main], {
      ...{
        module: ts.ModuleKind.NodeNext,
        target: ts.ScriptTarget.ES2022,
        lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
      },
      ...{ strict: true, skipLibCheck: true, types: ['node'], typeRoots: [join(modules, '@types')], rootDir: path },
      ...{ rewriteRelativeImportExtensions: true, verbatimModuleSyntax: true },
    })
    const wrong = ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    expect(wrong).toEqual([])
    program.emit()
    const stand = ts.transpileModule(TESTCONTAINERS, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    })
    writeFileSync(join(modules, 'testcontainers/index.js'), stand.outputText)
    // A sandbox is written down for its folder, where commands of other tests would find it.
    const own = { env: { PATH: process.env.PATH, EXECUTABLE: join(ROOT, 'bin/yield-sandbox.js') }, cwd: dirname(main) }
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', main.replace('.ts', '.js')], own)
    expect(stdout).toMatch(/\bpass 1$/m)
  })
})
