import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { ANVIL_VERSION, AnvilBinaryMissingError, anvilBinary } from '../chain/node/anvil-process.ts'
import { PACKAGE_ROOT } from '../package-root.ts'
import { oneLine } from '../support/foreign-text.ts'
import type { MachineCheck } from './machine-check.ts'

/** The glibc that Anvil's binary needs. */
const GLIBC = '2.35'
const OTHER_SYSTEM = 'use a system that has it, such as Ubuntu 22.04, Debian 12 or the image node:22-slim'

/** Milliseconds for Anvil to say its version. */
const PATIENCE_MS = 10_000

/** @returns the check of Node's version against package.json; `running` is the version without `v` */
export function checkNode(running: string = process.versions.node): MachineCheck {
  const { engines } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8'))
  const [, least = '0'] = /([\d.]+)/.exec(engines.node) ?? []
  if (isAtLeast(running, least)) return { id: 'node', state: 'good', detail: `Node ${running}` }
  const fix = `install Node ${least} or later (https://nodejs.org), or use the image node:22-slim`
  return { id: 'node', state: 'broken', detail: `Node ${running} is too old: ${least} is needed`, fix }
}

/** Checks the C library on Linux; on other systems there is nothing to check. `has`: its version, undefined for another library. */
export function checkGlibc(platform: string = process.platform, has: string | undefined = ownGlibc()): MachineCheck {
  if (platform !== 'linux') return { id: 'glibc', state: 'good', detail: `not needed on ${platform}` }
  if (has === undefined) {
    const detail = `this system has another C library, such as musl of Alpine; Anvil needs glibc ${GLIBC}`
    return { id: 'glibc', state: 'broken', detail, fix: OTHER_SYSTEM }
  }
  if (isAtLeast(has, GLIBC)) return { id: 'glibc', state: 'good', detail: `glibc ${has}` }
  const detail = `glibc ${has} is too old: Anvil needs ${GLIBC}`
  return { id: 'glibc', state: 'broken', detail, fix: OTHER_SYSTEM }
}

/** Finds Anvil's binary and lets it say its version; `find` and `version` are for tests. */
export async function checkAnvil(find = anvilBinary, version = versionOf): Promise<MachineCheck> {
  let binary: string
  try {
    binary = find()
  } catch (error) {
    if (!(error instanceof AnvilBinaryMissingError)) throw error
    const fix = 'npm install --include=optional, in the folder where yield-sandbox is installed'
    return { id: 'anvil', state: 'broken', detail: error.message, fix }
  }
  try {
    const said = await version(binary)
    const [, found = said] = /(\d+\.\d+\.\d+)/.exec(said) ?? []
    if (found === ANVIL_VERSION) return { id: 'anvil', state: 'good', detail: `Anvil ${found}` }
    const detail = `Anvil ${found} is installed, and this needs ${ANVIL_VERSION}`
    return { id: 'anvil', state: 'broken', detail, fix: 'install again: npm install --include=optional' }
  } catch (error) {
    const reason = oneLine((error as Error).message, 160)
    const fix = `let ${binary} be run: allow it (chmod +x, a mount without noexec), and see the line on glibc`
    return { id: 'anvil', state: 'broken', detail: `Anvil does not run: ${reason}`, fix }
  }
}

async function versionOf(binary: string): Promise<string> {
  const { stdout } = await promisify(execFile)(binary, ['--version'], { timeout: PATIENCE_MS, env: { NO_COLOR: '1' } })
  return oneLine(stdout, 80)
}

function ownGlibc(): string | undefined {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return header.glibcVersionRuntime
}

/** Compares versions of numbers between dots. */
function isAtLeast(version: string, least: string): boolean {
  const [has, needed] = [version, least].map((text) => text.split('.').map(Number))
  for (const [i, wanted] of (needed ?? []).entries()) {
    const own = has?.[i] ?? 0
    if (own !== wanted) return own > wanted
  }
  return true
}
