// smoke-package.mjs: packs the project, installs the tarball into an empty folder, and uses it from there as a newcomer
// would: the command line, then the library. What "files" forgot, or a dependency only the repository has, shows here.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const root = new URL('..', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-smoke-'))
const npm = (cwd, ...args) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

try {
  const [{ filename, size, entryCount }] = JSON.parse(
    npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  )
  console.log(`packed ${filename}: ${Math.round(size / 1024)} KiB, ${entryCount} files`)
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  npm(folder, 'install', '--no-audit', '--no-fund', join(folder, filename))
  await useCommandLine()
  useLibrary()
  console.log('the packed tarball works from an empty folder')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function useCommandLine() {
  const bin = join(folder, 'node_modules/.bin/yield-sandbox')
  const child = spawn(bin, ['--port', '0', '--json'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const { value: line } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()
  const { auth_url, base_url, scope, tenants } = JSON.parse(line)
  const { client_id, client_secret } = tenants[0]
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
  const { access_token } = await (await fetch(auth_url, { method: 'POST', body: form })).json()
  const headers = { authorization: `Bearer ${access_token}` }
  const pools = await fetch(`${base_url}/v1/partner/pools`, { headers })
  const { data } = await pools.json()
  if (pools.status !== 200 || data.length === 0) throw new Error(`GET /v1/partner/pools answered ${pools.status}`)
  child.kill('SIGTERM')
  const code = await exited
  if (code !== 0) throw new Error(`SIGTERM ended it with exit code ${code}`)
}

function useLibrary() {
  const program = `
    const sandbox = await startSandbox({ port: 0, confirmationDelay: 0 })
    const chainId = Number(await sandbox.chain.request({ method: 'eth_chainId' }))
    if (chainId !== 31337) throw new Error('the chain answers ' + chainId)
    await sandbox.stop()`
  run('module', `import { startSandbox } from 'yield-sandbox'; ${program}`)
  run('commonjs', `const { startSandbox } = require('yield-sandbox'); (async () => { ${program} })()`)
}

function run(type, program) {
  execFileSync(process.execPath, [`--input-type=${type}`, '-e', program], { cwd: folder, stdio: 'inherit' })
}
