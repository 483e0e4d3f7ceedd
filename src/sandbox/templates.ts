import { createHash } from 'node:crypto'
import type { Fixture } from '../fixtures/fixture.ts'
import { RecentlyUsed } from '../support/maps.ts'
import type { NamespaceCopy } from './build-services.ts'
import type { Namespace } from './namespace.ts'

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
