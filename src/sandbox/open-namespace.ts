import { createHash } from 'node:crypto'
import type { GuestWish, NamespaceWish } from '../control/contract.ts'
import { invalidParameters, Problem } from '../domain/errors.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import { ChainSetupError } from '../domain/ports/chain.ts'
import type { FoundNamespace, KeptNamespace, NamespaceRegistry } from '../domain/ports/namespace-registry.ts'
import { type Fixture, FixtureError } from '../fixtures/fixture.ts'
import { parseClockStart } from '../option-values.ts'
import { readInlineFixture } from '../read-fixture.ts'
import { resolveDelay } from '../resolve-options.ts'
import { UnreadableTextError } from '../support/issue.ts'
import type { Logger } from '../support/logger.ts'
import { RecentlyUsed } from '../support/maps.ts'
import { SeededRandom } from '../support/random.ts'
import { version } from '../version.ts'
import type { NamespaceCopy } from './build-services.ts'
import { clientsOf, Namespace } from './namespace.ts'
import type { Surroundings } from './surroundings.ts'

/** What a namespace is made from: another one, or what the default one is made from. */
export type Base = Pick<Namespace, 'fixture' | 'seed' | 'clockStart' | 'confirmationDelay'>

/** Dependencies and settings of a new namespace. */
export interface Making {
  name: string
  life: string
  wish: NamespaceWish
  source: Base
  /** The namespace that the wish copies as it is now; undefined for none. */
  copied: Namespace | undefined
  templates: Templates
  /** Where namespaces are stored; undefined if they end with the process. */
  registry: NamespaceRegistry | undefined
  surroundings: Surroundings
}

/** Makes the namespace; it can serve when this resolves. Throws Problem and then leaves nothing behind. */
export async function makeNamespace({
  name,
  life,
  wish,
  source,
  copied,
  templates,
  registry,
  surroundings,
}: Making): Promise<Namespace> {
  const confirmationDelay = delayOf(wish) ?? source.confirmationDelay
  const idleMs = surroundings.options.namespaceIdle
  const own = { name, life, confirmationDelay, registry, idleMs, surroundings }
  if (wish.snapshot !== undefined) return openRestored(own, wish, source)
  const fixture = wish.fixtures === undefined ? source.fixture : await fixtureOf(wish.fixtures, source.fixture)
  const seeding = { fixture, seed: wish.seed ?? source.seed, clockStart: clockOf(wish) ?? source.clockStart }
  const open = (begin: NamespaceCopy | undefined) =>
    openNamespace({ ...own, ...seeding, fixture: withOwnClients(fixture), begin })
  const seededAnew = wish.fixtures !== undefined || wish.seed !== undefined
  if (copied && !seededAnew) return open(await copyFrom(copied, wish))
  const made = templates.make(seeding, (template) => {
    if (template) surroundings.pool.prepare(template.chains)
    return open(template)
  })
  return made.catch((error: unknown) => {
    // The message contains the host of the fork's URL and no other part of the URL.
    if (wish.fixtures === undefined || !(error instanceof ChainSetupError)) throw error
    throw new Problem('validation_error', { detail: error.message, param: 'fixtures' })
  })
}

/**
 * Makes the namespace `default` of a sandbox within another one, from the fixture of a namespace there, with the same clients. Throws
 * Problem and then leaves nothing behind.
 */
export async function makeGuestNamespace({
  source,
  wish,
  templates,
  surroundings,
}: Pick<Making, 'source' | 'templates' | 'surroundings'> & { wish: Omit<GuestWish, 'pid'> }): Promise<Namespace> {
  const { fixture } = source
  const seeding = { fixture, seed: wish.seed ?? source.seed, clockStart: clockOf(wish) }
  const usual = fixture.options.confirmation_delay
  const confirmationDelay = delayOf(wish) ?? (usual === undefined ? { min: 0, max: 0 } : resolveDelay(usual))
  const idleMs = surroundings.options.namespaceIdle
  const wanted = { ...seeding, name: DEFAULT_NAMESPACE, life: undefined, confirmationDelay, idleMs, surroundings }
  return templates.make(seeding, (template) => {
    if (template) surroundings.pool.prepare(template.chains)
    return openNamespace({ ...wanted, registry: undefined, begin: template })
  })
}

/** Copies the source; the copy's clock may be set to a later moment, and is then frozen there. */
async function copyFrom(source: Namespace, wish: NamespaceWish): Promise<NamespaceCopy> {
  const copy = await source.copy()
  return atMoment(copy, wish, { of: `"${wish.from}"`, now: source.services.service.clock.now() })
}

function atMoment(copy: NamespaceCopy, wish: NamespaceWish, { of, now }: { of: string; now: number }): NamespaceCopy {
  const start = clockOf(wish)
  if (start === undefined) return copy
  if (start >= now) return { ...copy, clock: { offset: 0, frozen_at: start } }
  const detail = `The clock of ${of} is past that: it is ${new Date(now).toISOString()} there.`
  throw new Problem('validation_error', { detail, param: 'clock' })
}

/** Opens a namespace that begins with the state of a snapshot, once its chains are known to start. */
async function openRestored(
  own: Omit<OpenSetup, 'fixture' | 'seed' | 'clockStart'>,
  wish: NamespaceWish,
  { fixture: host }: Base,
): Promise<Namespace> {
  const { proveChains, readSnapshotWish } = await import('./snapshot-wish.ts') // most runs never need it
  const { fixture, seed, clockStart, begin, now } = await readSnapshotWish(wish, host)
  const clock = { of: 'the snapshot', now }
  const beginning = { begin: atMoment(begin, wish, clock), clockStart: clockOf(wish) ?? clockStart }
  const namespace = await openNamespace({ ...own, ...beginning, seed, fixture: withOwnClients(fixture) })
  try {
    await proveChains(namespace)
    return namespace
  } catch (error) {
    namespace.beginStop()
    await namespace.stop(undefined)
    throw error
  }
}

async function fixtureOf(given: Record<string, unknown>, host: Fixture): Promise<Fixture> {
  try {
    return await readInlineFixture(given, host)
  } catch (error) {
    if (!(error instanceof FixtureError)) throw error
    const errors = error.issues.map(({ path, message, fix }) => ({
      param: path === '' ? 'fixtures' : `fixtures.${path}`,
      detail: `${message}; ${fix}`,
    }))
    throw invalidParameters(errors)
  }
}

function clockOf({ clock }: Pick<NamespaceWish, 'clock'>): number | undefined {
  return clock === undefined ? undefined : inOwnWords('clock', () => parseClockStart(clock))
}

function delayOf({ confirmation_delay: delay }: Pick<NamespaceWish, 'confirmation_delay'>) {
  return delay === undefined ? undefined : inOwnWords('confirmation_delay', () => resolveDelay(delay))
}

function inOwnWords<T>(param: string, resolve: () => T): T {
  try {
    return resolve()
  } catch (error) {
    if (!(error instanceof UnreadableTextError)) throw error
    throw new Problem('validation_error', { detail: `${param} ${error.message}.`, param })
  }
}

type OpenSetup = Parameters<typeof Namespace.open>[0]

/** Opens a namespace; it can serve when this resolves. When it rejects, nothing is left running. */
async function openNamespace(options: OpenSetup): Promise<Namespace> {
  const namespace = await Namespace.open(options)
  try {
    await namespace.ready
    return namespace
  } catch (error) {
    namespace.beginStop()
    await namespace.stop(undefined)
    throw error
  }
}

/** Opens a stored namespace as an earlier process left it. Throws FixtureError, OptionError, the registry's error and others. */
export async function openKept(
  { name, life }: Pick<FoundNamespace, 'name' | 'life'>,
  kept: KeptNamespace,
  {
    host,
    registry,
    surroundings,
  }: { host: Fixture; registry: NamespaceRegistry | undefined; surroundings: Surroundings },
): Promise<Namespace> {
  const fixture = kept.fixtures === null ? host : await readInlineFixture(kept.fixtures, host)
  return openNamespace({
    name,
    life,
    fixture: withKeptClients(fixture, kept.clients),
    created_at: kept.created_at,
    seed: kept.seed,
    clockStart: kept.clock_start ?? undefined,
    confirmationDelay: kept.confirmation_delay,
    registry,
    idleMs: surroundings.options.namespaceIdle,
    surroundings,
  })
}

/** Opens the default namespace in a process of several, or makes it where there is none. Throws as {@link openKept}. */
export function openDefault(
  base: Base,
  { registry, surroundings }: { registry: NamespaceRegistry; surroundings: Surroundings },
): Promise<Namespace> {
  return openNamespace({ ...plain(base), name: DEFAULT_NAMESPACE, life: undefined, registry, surroundings })
}

/** The default namespace as one that is stored, in a process of several. */
export function defaultAsFound(base: Base): FoundNamespace {
  const kept = keptOf({ ...base, created_at: '', clients: clientsOf(base.fixture) })
  return { name: DEFAULT_NAMESPACE, life: DEFAULT_NAMESPACE, kept }
}

/** The members of a base alone. */
function plain({ fixture, seed, clockStart, confirmationDelay }: Base): Base {
  return { fixture, seed, clockStart, confirmationDelay }
}

/** Data of a namespace that is stored beside its state. */
export function keptOf({
  created_at,
  fixture,
  seed,
  clockStart,
  confirmationDelay,
  clients,
}: Base & Pick<Namespace, 'created_at' | 'clients'>): KeptNamespace {
  return {
    version,
    created_at,
    seed,
    clock_start: clockStart ?? null,
    confirmation_delay: confirmationDelay,
    clients,
    fixtures: fixture.source.given ?? null,
  }
}

/**
 * Audits a namespace whose state was not closed in order, and logs the result. The namespace serves meanwhile: damaged or outdated
 * files were refused before, and changes of clients to the chain may also make an audit fail.
 */
export async function auditAfterKill(namespace: Namespace, log: Logger): Promise<void> {
  const { name, place, closedInOrder } = namespace
  if (closedInOrder) return
  const found = { namespace: name, place }
  try {
    await namespace.ready
    const { ok, checks } = await namespace.audit()
    const failed = checks.filter((check) => !check.ok)
    if (ok) log.info(found, 'the stored state was not closed in order: the audit finds that all of it agrees')
    else
      log.error({ ...found, failed }, 'the stored state was not closed in order: the audit finds what does not agree')
  } catch (error) {
    log.warn({ ...found, err: error }, 'the stored state was not closed in order, and could not be audited')
  }
}

type Clients = KeptNamespace['clients']

/** Gives every tenant new credentials. These choose a request's namespace, so no two namespaces may share them. */
function withOwnClients(fixture: Fixture): Fixture {
  return withClients(fixture, () => ({ client_id: SeededRandom.freshUuid(), client_secret: SeededRandom.secret() }))
}

/** The fixture with the clients that a namespace was made with; a tenant added since keeps the fixture's. */
export function withKeptClients(fixture: Fixture, clients: Clients): Fixture {
  return withClients(fixture, (tenantId) => {
    const { slug: _, ...kept } = clients[tenantId] ?? {}
    return kept
  })
}

function withClients(fixture: Fixture, clientOf: (tenantId: string) => Partial<Clients[string]>): Fixture {
  const tenants = fixture.tenants.map((one) => ({
    ...one,
    tenant: { ...one.tenant, ...clientOf(one.tenant.tenant_id) },
  }))
  return { ...fixture, tenants }
}

/** Inputs of seeding a namespace; equal inputs give equal namespaces. */
export interface Seeding {
  fixture: Fixture
  seed: number
  /** Milliseconds since the Unix epoch at which the clock starts, frozen; undefined for real time. */
  clockStart: number | undefined
}

/** Number of templates kept; each is a ledger and chains directly after seeding. */
const KEPT = 32

/** Seeded namespaces as templates of new ones: each seeding is done once, however many ask for it at once. */
export class Templates {
  readonly #copies = new RecentlyUsed<string, Promise<NamespaceCopy | undefined>>(KEPT)

  /** Adds a namespace that is being seeded. */
  add(seeding: Seeding, seeded: Promise<Namespace>): void {
    const key = seedingKey(seeding)
    this.#copies.use(key, () => this.#copyOf(key, seeded))
  }

  /** Makes a namespace: from the template, or by seeding if it is the first with these inputs. */
  async make(seeding: Seeding, open: (begin: NamespaceCopy | undefined) => Promise<Namespace>): Promise<Namespace> {
    const key = seedingKey(seeding)
    let seeded: Promise<Namespace> | undefined
    const template = await this.#copies.use(key, () => {
      seeded = open(undefined)
      return this.#copyOf(key, seeded)
    })
    if (seeded) return seeded
    return template ? open(template) : this.make(seeding, open)
  }

  /** Forgets a seeding that yields no template, before its callers get the result. */
  #copyOf(key: string, seeded: Promise<Namespace>): Promise<NamespaceCopy | undefined> {
    return seeded
      .then(
        (namespace) => namespace.seeded,
        () => undefined,
      )
      .then((copy) => {
        if (!copy) this.#copies.forget(key)
        return copy
      })
  }
}

/** Key of all inputs that matter; the clients of tenants do not, since every namespace has its own. */
function seedingKey({ fixture, seed, clockStart }: Seeding): string {
  const { content, fork } = fixture.source
  return createHash('sha256')
    .update(JSON.stringify([content, fork, seed, clockStart]))
    .digest('base64url')
}
