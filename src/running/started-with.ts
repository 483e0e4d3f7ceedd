import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { SANDBOX_OPTIONS, type SandboxOptions } from '../options.ts'
import { shorten } from '../support/foreign-text.ts'
import { version } from '../version.ts'
import type { SandboxRecord } from './sandbox-record.ts'

/** Flags of a start whose effect a run within the sandbox shares: it has the same tenants, chains and bounds. */
export const INHERITED = ['--fork-url', '--fork-block-number', '--record-exchanges', '--record-bytes', '--snapshot']

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

/** Flags of the options that a start was given. */
export function flagsOf(options: SandboxOptions): string[] {
  const table: Partial<Record<string, { flag: string }>> = SANDBOX_OPTIONS
  return Object.keys(options).flatMap((name) => table[name]?.flag.match(/^--[a-z-]+/) ?? [])
}

/** The sandbox that is wanted. */
export interface WantedSandbox {
  /** Path of its fixture file; undefined: any. */
  fixtures: string | undefined
  /** Flags that the start of the one that runs must not have had. */
  without: readonly string[]
}

/** In words, why the sandbox of a folder is not the one that is wanted; undefined if it is. */
export function reasonNotToJoin(found: SandboxRecord, { fixtures, without }: WantedSandbox): string | undefined {
  const its = `that of this folder, at ${found.url},`
  if (found.version !== version) return `${its} is of version ${found.version}; yield-sandbox stop ends it`
  const excess = found.flags.filter((flag) => without.includes(flag))
  if (excess.length > 0) return `${its} was started with ${excess.join(' and ')}`
  if (hasFixtures(found, fixtures)) return undefined
  const others = fixtures === undefined ? 'its file holds now' : shorten(fixtures)
  return `${its} was started with other fixtures than ${others}; yield-sandbox stop ends it`
}

/** @returns true if the sandbox was started with the fixture file as it is now; undefined: with any, unchanged since */
export function hasFixtures({ fixtures }: Pick<SandboxRecord, 'fixtures'>, path: string | undefined): boolean {
  try {
    return fixturesNow(path ?? fixtures?.path)?.digest === fixtures?.digest
  } catch {
    return false
  }
}
