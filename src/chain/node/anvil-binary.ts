import { createRequire } from 'node:module'

/** Foundry's package with the binary, by Node's platform and architecture. */
const PACKAGES: Record<string, string> = {
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
  'linux-arm64': '@foundry-rs/anvil-linux-arm64',
  'darwin-x64': '@foundry-rs/anvil-darwin-amd64',
  'darwin-arm64': '@foundry-rs/anvil-darwin-arm64',
  'win32-x64': '@foundry-rs/anvil-win32-amd64',
}

/** Optional dependencies, of which a machine gets the one with its binary. None of them runs a script on installation. */
export const ANVIL_PACKAGES = Object.values(PACKAGES)

/** The version that everything is tested with; a package manager may have installed another one. */
export const ANVIL_VERSION = '1.7.1'

/** Anvil's binary for this machine is not installed. The message says which package is missing and how to get it. */
export class AnvilBinaryMissingError extends Error {
  override readonly name = 'AnvilBinaryMissingError'
  readonly code = 'anvil_binary_missing'
}

/** Finds the Anvil binary in the package that npm chose for this machine. Throws {@link AnvilBinaryMissingError}. */
export function anvilBinary(platform: string = process.platform, arch: string = process.arch): string {
  const machine = `${platform}-${arch}`
  const name = PACKAGES[machine]
  if (!name) {
    throw new AnvilBinaryMissingError(
      `there is no Anvil for ${machine}; it exists for ${Object.keys(PACKAGES).join(', ')}`,
    )
  }
  const require = createRequire(import.meta.url)
  try {
    return require.resolve(`${name}/bin/${platform === 'win32' ? 'anvil.exe' : 'anvil'}`)
  } catch (cause) {
    throw new AnvilBinaryMissingError(
      `Anvil's binary for ${machine} is not installed: the optional package ${name} is missing; ` +
        'install again with optional dependencies (npm install --include=optional)',
      { cause },
    )
  }
}
