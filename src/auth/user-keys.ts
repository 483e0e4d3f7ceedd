import type { SandboxClock } from '../domain/clock.ts'
import type { UserKeySource } from '../domain/records.ts'
import type { Logger } from '../support/logger.ts'
import { BoundedMap } from '../support/maps.ts'
import { RemoteJwks } from './remote-jwks.ts'
import { InlineKeys, importSigningKeys, importSigningPem, type KeySource } from './signing-keys.ts'

export interface UserKeysOptions {
  clock: SandboxClock
  logger: Logger
  /** Limit for fetching a `jwks_uri`, in milliseconds; default 5,000. */
  fetchTimeout?: number
}

/** The keys that verify user tokens, imported or fetched once per registered source. */
export class UserKeys {
  readonly #sources = new BoundedMap<string, KeySource>(1000)

  constructor(private readonly options: UserKeysOptions) {}

  /** The keys of a tenant's registration. Never fails: a flaw of the source appears when a key is looked up. */
  of(registered: UserKeySource): KeySource {
    // By content, not by record: a store may return a new copy every time.
    const id = JSON.stringify(registered)
    let source = this.#sources.get(id)
    if (!source) {
      source = this.#open(registered)
      this.#sources.set(id, source)
    }
    return source
  }

  /** Forgets every key. */
  clear(): void {
    this.#sources.clear()
  }

  #open(registered: UserKeySource): KeySource {
    if ('jwks_uri' in registered) return new RemoteJwks(registered.jwks_uri, this.options)
    if ('jwks' in registered) return new InlineKeys(() => importSigningKeys(registered.jwks.keys))
    return new InlineKeys(() => importSigningPem(registered.public_key_pem, registered.kid))
  }
}
