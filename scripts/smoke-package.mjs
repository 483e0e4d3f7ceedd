// smoke-package.mjs: packs the project, installs the tarball into an empty folder, and uses it from there as a newcomer
// would: the command line, then the library. What "files" forgot, or a dependency only the repository has, shows here.
// `npm run smoke -- --node 22.23.3` does so with that Node as well, which comes from the package `node` of npm; several can be named.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const root = new URL('..', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-smoke-'))
const { values } = parseArgs({ options: { node: { type: 'string', multiple: true, default: [] } } })
const npm = (cwd, ...args) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

try {
  const [{ filename, size, entryCount }] = JSON.parse(
    npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  )
  console.log(`packed ${filename}: ${Math.round(size / 1024)} KiB, ${entryCount} files`)
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  npm(folder, 'install', '--no-audit', '--no-fund', join(folder, filename))
  for (const node of [process.execPath, ...values.node.map(nodeOfVersion)]) {
    await useCommandLine(node)
    useLibrary(node)
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
    console.log(`the packed tarball works from an empty folder, with Node ${version}`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Path of Node's binary of a version. The package `node` gets it from the package for the platform, which has 5,000 other files as well: that
 * is fetched, and the binary alone unpacked.
 */
function nodeOfVersion(version) {
  const own = join(folder, `node-${version}`)
  mkdirSync(own)
  const name = `node-${process.platform}-${process.arch}@${version}`
  const file = npm(own, 'pack', '--silent', name).trim()
  execFileSync('tar', ['-xzf', file, 'package/bin/node'], { cwd: own })
  return join(own, 'package/bin/node')
}

async function useCommandLine(node) {
  const bin = join(folder, 'node_modules/.bin/yield-sandbox')
  const child = spawn(node, [bin, '--port', '0', '--json'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
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

/** One program for both ways to load it: they give the same copy. */
function useLibrary(node) {
  const program = `
    import { createRequire } from 'node:module'
    import { startSandbox } from 'yield-sandbox'
    import { connectSandbox } from 'yield-sandbox/client'
    const require = createRequire(process.cwd() + '/program.mjs')
    if (require('yield-sandbox').startSandbox !== startSandbox) throw new Error('required, it is another copy')
    const sandbox = await startSandbox({ port: 0, confirmationDelay: 0 })
    const address = { url: new URL(sandbox.controlUrl).origin }
    const handles = [sandbox, await connectSandbox(address), await require('yield-sandbox/client').connectSandbox(address)]
    const chainIds = await Promise.all(handles.map(({ chain }) => chain.request({ method: 'eth_chainId' })))
    if (chainIds.some((id) => Number(id) !== 31337)) throw new Error('the chain answers ' + chainIds)
    await sandbox.stop()`
  execFileSync(node, ['--input-type=module', '-e', program], { cwd: folder, stdio: 'inherit' })
}
