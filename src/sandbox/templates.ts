import { createHash } from 'node:crypto'
import type { Fixture } from '../fixtures/fixture.ts'
import { RecentlyUsed } from '../support/maps.ts'
import type { Namespace } from './namespace.ts'
import type { NamespaceCopy } from './namespace-copy.ts'

/** What a namespace is seeded from: two that agree in it come out the same. */
export interface Seeding {
  fixture: Fixture
  seed: number
  /** Milliseconds since the Unix epoch at which the clock starts, frozen; undefined for real time. */
  clockStart: number | undefined
}

/** Templates that are kept: each is a ledger and chains as they were seeded. */
const KEPT = 32

/** Namespaces as they were seeded, to make others from: each is seeded once, however many ask for it at once. */
export class Templates {
  readonly #copies = new RecentlyUsed<string, Promise<NamespaceCopy | undefined>>(KEPT)

  /** Takes note of one that is being seeded. */
  add(seeding: Seeding, seeded: Promise<Namespace>): void {
    const key = seedingKey(seeding)
    this.#copies.use(key, () => this.#copyOf(key, seeded))
  }

  /** Makes one: from its template, or without by the first who asks for that seeding. */
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

  /** Whatever never gives a template is forgotten before anybody hears of that. */
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

/** All that can make a difference; the clients of tenants do not, since every namespace has its own. */
function seedingKey({ fixture, seed, clockStart }: Seeding): string {
  const { content, fork } = fixture.source
  return createHash('sha256')
    .update(JSON.stringify([content, fork, seed, clockStart]))
    .digest('base64url')
}
