import { readFixture } from '../read-fixture.ts'

/** The confirmation delay that a fixture file asks for; suites want no wait, unless it does. Throws FixtureError. */
export async function delayOf(fixtures: string | undefined): Promise<string | number> {
  const said = fixtures === undefined ? undefined : (await readFixture(fixtures)).options.confirmation_delay
  return said ?? 0
}
