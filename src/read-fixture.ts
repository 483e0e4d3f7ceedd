import { fileURLToPath } from 'node:url'
import { embeddedMarket } from './chain/markets/embedded-market.ts'
import type { Fixture } from './fixtures/fixture.ts'
import { loadFixture, readFixtureData } from './fixtures/load-fixture.ts'
import type { ForkOptions } from './fixtures/resolve-chains.ts'
import { PACKAGE_ROOT } from './package-root.ts'

export { readFixtureContent } from './fixtures/load-fixture.ts'

/** The fixture file that ships with the package. */
export const DEFAULT_FIXTURES = fileURLToPath(new URL('fixtures/default.yaml', PACKAGE_ROOT))

/** Reads a fixture file with the embedded chain's tokens and markets. Throws FixtureError. */
export async function readFixture(file: string, fork: ForkOptions = {}): Promise<Fixture> {
  return loadFixture(file, { embedded: await embeddedMarket(), fork })
}

/**
 * Checks a fixture that came as data, against that of the sandbox. `starting`: the sandbox is being started with it. Throws FixtureError.
 */
export async function readInlineFixture(
  data: Record<string, unknown>,
  host: Fixture,
  { starting = false } = {},
): Promise<Fixture> {
  return readFixtureData(data, host, { embedded: await embeddedMarket(), starting })
}
