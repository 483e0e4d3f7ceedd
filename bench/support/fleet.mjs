import { rmSync } from 'node:fs'
import { rolldown } from 'rolldown'
import { inPackage, launch } from './processes.mjs'

/** Beside src/ and dist/: what ships as a file is found one folder up. */
const FOLDER = inPackage('.fleet')

/** Starts an owner and a process that passes everything on to it, from the sources; `front` is that one's URL. */
export async function launchFleet() {
  const bundle = await rolldown({
    cwd: inPackage('.'),
    input: 'bench/support/fleet-process.mjs',
    platform: 'node',
    resolve: {
      mainFields: ['module', 'main'],
      alias: { '@fastify/ajv-compiler': false, '@fastify/fast-json-stringify-compiler': false, 'node:http2': false },
    },
    external: ['viem', 'pg', 'pg-native'],
    logLevel: 'silent',
  })
  await bundle.write({ dir: FOLDER, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' })
  const program = `${FOLDER}/fleet-process.mjs`
  const owner = await launch(process.execPath, [program, 'owner'])
  const { credentials, fleet } = JSON.parse(owner.line)
  const front = await launch(process.execPath, [program, 'front', ...fleet])
  const stop = async () => {
    await Promise.all([front.stop(), owner.stop()])
    rmSync(FOLDER, { recursive: true })
  }
  return { owner: owner.child, credentials, front: JSON.parse(front.line).url, frontProcess: front.child, stop }
}
