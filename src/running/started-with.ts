import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { SandboxOptions } from '../options.ts'
import type { SandboxRecord } from './sandbox-record.ts'

/** A fixture file as it is now, for a record; undefined for none, which is the shipped one. Throws the operating system's error. */
export function fixturesNow(path: string | undefined): SandboxRecord['fixtures'] {
  if (path === undefined) return undefined
  const absolute = resolve(path)
  return { path: absolute, digest: createHash('sha256').update(readFileSync(absolute)).digest('base64url') }
}

/** Digest of the options that a start was given, but for those that say nothing of the sandbox itself. */
export function optionsDigest({ logger: _, ...options }: SandboxOptions): string {
  const named = Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(named)).digest('base64url')
}

/** @returns true if the sandbox was started with the fixture file as it is now; undefined: with any, unchanged since */
export function hasFixtures({ fixtures }: Pick<SandboxRecord, 'fixtures'>, path: string | undefined): boolean {
  try {
    return fixturesNow(path ?? fixtures?.path)?.digest === fixtures?.digest
  } catch {
    return false
  }
}
