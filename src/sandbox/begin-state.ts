import { SandboxClock } from '../domain/clock.ts'
import type { KeptNamespace, NamespaceRegistry, SharedRegistry } from '../domain/ports/namespace-registry.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { OptionError } from '../option-error.ts'
import { parseClockStart } from '../option-values.ts'
import type { SandboxOptions } from '../options.ts'
import { DEFAULT_FIXTURES, readFixture, readInlineFixture } from '../read-fixture.ts'
import { type ResolvedOptions, resolveFork } from '../resolve-options.ts'
import { SeededRandom } from '../support/random.ts'
import type { NamespaceCopy } from './build-services.ts'
import { type Base, withKeptClients } from './open-namespace.ts'
import { fingerprint, otherBeginning } from './persistence.ts'

/** What a sandbox starts with. */
export interface BeginState {
  fixture: Fixture
  /** Present if it starts with a snapshot. */
  restored?: Restored
}

interface Restored {
  seed: number
  /** Milliseconds since the Unix epoch; undefined for real time. */
  clockStart: number | undefined
  begin: NamespaceCopy
}

/**
 * Reads the state as {@link readKeptState} does, and replaces these settings of the service. Throws as that does.
 */
export async function readBeginState(
  given: SandboxOptions,
  registry: NamespaceRegistry | undefined,
  service: Readonly<Record<string, unknown>> = {},
): Promise<BeginState> {
  const state = await readKeptState(given, registry)
  if (Object.keys(service).length === 0) return state
  const { fixture } = state
  const own = { service: { ...fixture.source.content.service, ...service } }
  return { ...state, fixture: await readInlineFixture(own, fixture, { starting: true }) }
}

/**
 * What this process and the others on a database make namespaces from: what the first of them was started with. Throws OptionError if this one
 * was started with something else, or the registry's error.
 */
export async function agreeOnBase(
  registry: SharedRegistry,
  fixture: Fixture,
  { seed, clock: clockStart, confirmationDelay }: ResolvedOptions,
): Promise<Base> {
  const wanted = { seed, fixture: fingerprint(fixture) }
  const agreed = await registry.agree({ ...wanted, seed: seed ?? SeededRandom.freshSeed() })
  const problem = otherBeginning(agreed, wanted, registry.flag)
  if (problem) throw new OptionError(`${registry.place}: ${problem}.`)
  return { fixture, seed: agreed.seed, clockStart, confirmationDelay }
}

/**
 * Reads the fixture file and, if the options name one, the snapshot. A stored state that began with a snapshot has its fixture with it.
 * Throws FixtureError, SnapshotError, OptionError or the registry's error.
 */
async function readKeptState(given: SandboxOptions, registry: NamespaceRegistry | undefined): Promise<BeginState> {
  const { snapshot, fixtures } = given
  if (snapshot !== undefined) return readStart({ ...given, snapshot })
  const kept = registry ? await registry.peekDefault() : null
  const ownFork = kept?.fixtures?.chains !== undefined
  const host = await readFixture(
    fixtures ?? DEFAULT_FIXTURES,
    ownFork && fixtures === undefined ? {} : resolveFork(given),
  )
  return { fixture: kept?.fixtures ? await fixtureOf(kept, host, given) : host }
}

async function readStart(given: SandboxOptions & { snapshot: string }): Promise<BeginState> {
  const { snapshot: path, fixtures, forkUrl } = given
  const host = await readFixture(fixtures ?? DEFAULT_FIXTURES, fixtures === undefined ? {} : resolveFork(given))
  const { readSnapshotFile, aboutFile } = await import('../snapshot/snapshot-path.ts')
  const { restoreSnapshot } = await import('./from-snapshot.ts')
  const bytes = await readSnapshotFile(path)
  const starting = fixtures === undefined ? 'with own service section' : 'with that of the host'
  const wallNow = new SandboxClock().wallNow()
  const state = await aboutFile(path, () => restoreSnapshot(bytes, { fixture: host, forkUrl, starting }, wallNow))
  const { fixture, seed, now } = state
  if (given.seed !== undefined && given.seed !== seed) {
    throw new OptionError(`${path}: it was made with seed ${seed}, not ${given.seed}. Fix: leave --seed out.`)
  }
  if (given.clock === undefined) return { fixture, restored: state }
  const start = parseClockStart(given.clock)
  if (start < now) {
    const there = new Date(now).toISOString()
    throw new OptionError(
      `${path}: its clock is past ${given.clock}: it is ${there} there. Fix: give a later --clock, or none.`,
    )
  }
  const begin = { ...state.begin, clock: { offset: 0, frozen_at: start } }
  return { fixture, restored: { seed, clockStart: start, begin } }
}

/** The fixture of a stored state that began with a snapshot. */
async function fixtureOf({ fixtures, clients }: KeptNamespace, host: Fixture, given: SandboxOptions): Promise<Fixture> {
  const { service, chains, ...sections } = fixtures ?? {}
  const own = {
    ...sections,
    ...(chains !== undefined && { chains: withForkUrl(chains, given.forkUrl) }),
    ...(service !== undefined && given.fixtures === undefined && { service }),
  }
  return withKeptClients(await readInlineFixture(own, host, { starting: true }), clients)
}

/** The chains with another address of the real chain, for the only fork among them. */
function withForkUrl(chains: unknown, url: string | undefined): unknown {
  if (url === undefined || !Array.isArray(chains)) return chains
  const forks = chains.filter((chain: object) => 'fork_url' in chain).length
  return chains.map((chain: object) => (forks === 1 && 'fork_url' in chain ? { ...chain, fork_url: url } : chain))
}
