import type { NamespaceWish } from '../control/contract.ts'
import type { NamespaceFolders } from '../data-dir/namespace-folders.ts'
import { invalidParameters, Problem } from '../domain/errors.ts'
import { ChainSetupError } from '../domain/ports/chain.ts'
import { type Fixture, FixtureError } from '../fixtures/fixture.ts'
import { refuseUnlessReady } from '../http/pipeline.ts'
import { parseClockStart } from '../options.ts'
import { readInlineFixture } from '../read-fixture.ts'
import { resolveDelay } from '../resolve-options.ts'
import { UnreadableTextError } from '../support/issue.ts'
import type { Namespace } from './namespace.ts'
import type { NamespaceCopy } from './namespace-copy.ts'
import { openNamespace } from './open-namespace.ts'
import { withOwnClients } from './own-clients.ts'
import type { Surroundings } from './surroundings.ts'
import type { Templates } from './templates.ts'

/** Dependencies and settings of a new namespace. */
export interface Making {
  name: string
  life: string
  wish: NamespaceWish
  /** The namespace to copy. */
  source: Namespace
  templates: Templates
  /** Storage of namespaces; undefined if they end with the process. */
  folders: NamespaceFolders | undefined
  surroundings: Surroundings
}

/** Makes the namespace; it can serve when this resolves. Throws Problem and then leaves nothing behind. */
export async function makeNamespace({
  name,
  life,
  wish,
  source,
  templates,
  folders,
  surroundings,
}: Making): Promise<Namespace> {
  await source.ready.catch(() => undefined) // notReady() reports the reason
  refuseUnlessReady(source.http.notReady())
  const fixture = wish.fixtures === undefined ? source.fixture : await fixtureOf(wish.fixtures, source.fixture)
  const seeding = { fixture, seed: wish.seed ?? source.seed, clockStart: clockOf(wish) ?? source.clockStart }
  const confirmationDelay = delayOf(wish) ?? source.confirmationDelay
  const idleMs = surroundings.options.namespaceIdle
  const wanted = { ...seeding, name, life, confirmationDelay, dataDir: folders?.of(life), idleMs, surroundings }
  const open = (begin: NamespaceCopy | undefined) =>
    openNamespace({ ...wanted, fixture: withOwnClients(fixture), begin })
  const seededAnew = wish.fixtures !== undefined || wish.seed !== undefined
  if (wish.from !== undefined && !seededAnew) return open(await copyFrom(source, wish))
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

/** Copies the source; the copy's clock may be set to a later moment, and is then frozen there. */
async function copyFrom(source: Namespace, wish: NamespaceWish): Promise<NamespaceCopy> {
  const copy = await source.copy()
  const start = clockOf(wish)
  if (start === undefined) return copy
  const now = source.services.service.clock.now()
  if (start >= now) return { ...copy, clock: { offset: 0, frozen_at: start } }
  const detail = `The clock of "${wish.from}" is past that: it is ${new Date(now).toISOString()} there.`
  throw new Problem('validation_error', { detail, param: 'clock' })
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

function clockOf({ clock }: NamespaceWish): number | undefined {
  return clock === undefined ? undefined : inOwnWords('clock', () => parseClockStart(clock))
}

function delayOf({ confirmation_delay: delay }: NamespaceWish) {
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
