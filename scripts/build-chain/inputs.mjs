// What the embedded chain is made from, as one hash: the same hash means that nothing has to be built.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGES = ['@aave/core-v3', '@openzeppelin/contracts', 'solc', 'viem']

/**
 * @param {string} root the project's folder
 * @returns {string} SHA-256 of the contracts, the build's own code and the versions of what it uses
 */
export function hashInputs(root) {
  const hash = createHash('sha256')
  const files = ['contracts', 'scripts/build-chain'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((file) => /\.(sol|mjs)$/.test(file))
      .sort()
      .map((file) => `${folder}/${file}`),
  )
  for (const file of ['scripts/build-chain.mjs', ...files]) hash.update(file).update(readFileSync(join(root, file)))
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  hash.update(JSON.stringify(optionalDependencies)) // Anvil, for every platform
  for (const name of PACKAGES) {
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'))
    hash.update(`${name}@${version}`)
  }
  return hash.digest('hex')
}
