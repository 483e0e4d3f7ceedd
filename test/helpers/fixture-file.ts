import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parse } from 'yaml'
import type { FixtureFile } from '../../src/fixtures/fixture-schema.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { DEFAULT_FIXTURES, type SandboxOptions } from '../../src/options.ts'
import { testSandbox } from './partner.ts'

/** A sandbox of the shipped fixture file with something changed about it. */
export async function sandboxWith(
  change: (fixture: FixtureFile) => void,
  options: SandboxOptions = {},
): Promise<SandboxHandle> {
  const fixture: FixtureFile = parse(await readFile(DEFAULT_FIXTURES, 'utf8'))
  for (const key of [fixture.identity_provider, ...fixture.tenants.map((tenant) => tenant.key)]) {
    if ('private_key_file' in key) key.private_key_file = resolve(dirname(DEFAULT_FIXTURES), key.private_key_file)
  }
  change(fixture)
  const directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-fixture-'))
  try {
    const fixtures = join(directory, 'fixture.json')
    await writeFile(fixtures, JSON.stringify(fixture))
    return await testSandbox({ fixtures, ...options })
  } finally {
    await rm(directory, { recursive: true })
  }
}
