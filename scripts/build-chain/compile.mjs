// Compiles contracts/*.sol with the solc of node_modules.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/**
 * @param {string} root the project's folder
 * @returns {Record<string, { abi: any[], bytecode: `0x${string}` }>} by contract name
 */
export function compileContracts(root) {
  const solc = createRequire(import.meta.url)('solc')
  const folder = join(root, 'contracts')
  const files = readdirSync(folder).filter((file) => file.endsWith('.sol'))
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(files.map((file) => [file, { content: readFileSync(join(folder, file), 'utf8') }])),
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const findImport = (path) => ({ contents: readFileSync(join(root, 'node_modules', path), 'utf8') })
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport }))
  if (output.errors?.length) throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'))
  return Object.fromEntries(
    files.map((file) => {
      const name = file.replace(/\.sol$/, '')
      const { abi, evm } = output.contracts[file][name]
      return [name, { abi, bytecode: `0x${evm.bytecode.object}` }]
    }),
  )
}
