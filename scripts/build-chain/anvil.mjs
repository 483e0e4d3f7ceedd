// A short-lived Anvil for the build, from the npm package's platform binary.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Path of the Anvil binary. The platform's package is asked, not the wrapper: install scripts may be switched off. */
function anvilBinary() {
  const os = process.platform
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const file = os === 'win32' ? 'anvil.exe' : 'anvil'
  const name = `@foundry-rs/anvil-${os}-${arch}`
  try {
    return require.resolve(`${name}/bin/${file}`)
  } catch {
    throw new Error(`no Anvil for this platform: the optional package ${name} is not installed (run npm ci)`)
  }
}

/**
 * Starts an Anvil on a free port.
 * @param {string[]} flags
 * @returns {Promise<{ request: (method: string, params?: unknown[]) => Promise<any>, stop: () => Promise<void> }>}
 */
export async function startAnvil(flags) {
  const child = spawn(anvilBinary(), ['--port', '0', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
  const killed = () => child.kill('SIGKILL')
  process.once('exit', killed)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const url = await listeningUrl(child)
  let id = 0
  return {
    async request(method, params = []) {
      id += 1
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      })
      const answer = await response.json()
      if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
      return answer.result
    },
    async stop() {
      child.kill('SIGKILL')
      await exited
      process.off('exit', killed)
    },
  }
}

/** The address Anvil prints: with port 0 nothing else tells which port it got. */
function listeningUrl(child) {
  return new Promise((resolve, reject) => {
    let output = ''
    const read = (chunk) => {
      output += chunk
      const address = /Listening on ([\d.]+:\d+)/.exec(output)?.[1]
      if (address) resolve(`http://${address}`)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`Anvil ended with code ${code}:\n${output}`)))
  })
}
