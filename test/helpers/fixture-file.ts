import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parse } from 'yaml'
import type { FixtureFile } from '../../src/fixtures/fixture-schema.ts'
import type { SandboxHandle } from '../../src/index.ts'
import type { SandboxOptions } from '../../src/options.ts'
import { DEFAULT_FIXTURES } from '../../src/read-fixture.ts'
import { testSandbox } from './partner.ts'

/** Writes the shipped fixture file into the directory with something changed about it, and returns its path. */
export async function writeFixture(directory: string, change: (fixture: FixtureFile) => void): Promise<string> {
  const fixture: FixtureFile = parse(await readFile(DEFAULT_FIXTURES, 'utf8'))
  for (const key of [fixture.identity_provider, ...fixture.tenants.map((tenant) => tenant.key)]) {
    if ('private_key_file' in key) key.private_key_file = resolve(dirname(DEFAULT_FIXTURES), key.private_key_file)
  }
  change(fixture)
  const path = join(directory, 'fixture.json')
  await writeFile(path, JSON.stringify(fixture))
  return path
}

/** A sandbox of the shipped fixture file with something changed about it. */
export async function sandboxWith(
  change: (fixture: FixtureFile) => void,
  options: SandboxOptions = {},
): Promise<SandboxHandle> {
  const directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-fixture-'))
  try {
    return await testSandbox({ fixtures: await writeFixture(directory, change), ...options })
  } finally {
    await rm(directory, { recursive: true })
  }
}
