import type { CryptoKey } from 'jose'
import type { SandboxClock } from '../domain/clock.ts'
import type { UserKeySource } from '../domain/records.ts'
import type { Logger } from '../support/logger.ts'
import { BoundedMap } from '../support/maps.ts'
import { readBody } from '../support/read-body.ts'
import {
  InlineKeys,
  importSigningKeys,
  importSigningPem,
  type KeySource,
  quote,
  type SigningKeys,
  unknownKid,
} from './signing-keys.ts'
import { TokenRefused } from './token-refused.ts'

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

export interface RemoteJwksOptions {
  clock: SandboxClock
  logger: Logger
  /** Milliseconds; default 5,000. */
  fetchTimeout?: number
}

const FETCHES_PER_MINUTE = 5
/** Age up to which keys are used without fetching them again, in milliseconds. */
const FRESH_FOR = 10 * 60 * 1000
/** Pause before a `kid` that the set did not hold is asked for again, in milliseconds. */
const ABSENT_FOR = 30 * 1000

/**
 * The key set behind a `jwks_uri`, cached by `kid`. An unknown `kid` fetches the set again, once; forged ones cannot cause more than a
 * few fetches a minute. When the URI fails, known keys stay in use. jose's `createRemoteJWKSet` does neither: it asks a failing URI
 * for every token, and it reads answers of any size.
 */
class RemoteJwks implements KeySource {
  readonly #clock: SandboxClock
  readonly #logger: Logger
  readonly #timeout: number
  readonly #budget: TokenBucket
  readonly #absent = new BoundedMap<string, number>(1000)
  #keys: SigningKeys = new Map()
  #fetchedAt = 0
  #failure: string | undefined
  #fetching: Promise<void> | undefined

  constructor(
    private readonly uri: string,
    { clock, logger, fetchTimeout = 5000 }: RemoteJwksOptions,
  ) {
    this.#clock = clock
    this.#logger = logger
    this.#timeout = fetchTimeout
    this.#budget = new TokenBucket(FETCHES_PER_MINUTE, 60_000 / FETCHES_PER_MINUTE, clock)
  }

  async find(kid: string): Promise<CryptoKey> {
    const known = this.#keys.get(kid)
    if (known && this.#isYounger(this.#fetchedAt, FRESH_FOR)) return known.key
    if (known && this.#failure) {
      // The URI failed last time: the caller need not wait for it to fail again.
      void this.#refresh()
      return known.key
    }
    const absentSince = known ? undefined : this.#absent.get(kid)
    const asked = !this.#isYounger(absentSince, ABSENT_FOR) && (await this.#refresh())
    const found = this.#keys.get(kid)
    if (found) return found.key
    if (!asked || this.#failure) {
      const why = this.#explain(kid, asked, absentSince)
      throw new TokenRefused(why, { aspect: 'kid', expected: `a key at ${hostOf(this.uri)}`, came: quote(kid) })
    }
    this.#absent.set(kid, this.#clock.wallNow())
    throw unknownKid(kid, this.#keys)
  }

  /** @returns true if the URI was asked, by this call or one under way. Never rejects. */
  async #refresh(): Promise<boolean> {
    if (!this.#fetching) {
      if (!this.#budget.take()) return false
      this.#fetching = this.#fetch().finally(() => {
        this.#fetching = undefined
      })
    }
    await this.#fetching
    return true
  }

  #explain(kid: string, asked: boolean, absentSince: number | undefined): string {
    const host = hostOf(this.uri)
    const again = Math.max(this.#budget.nextAt, absentSince === undefined ? 0 : absentSince + ABSENT_FOR)
    const later = asked ? '' : `; it is asked again from ${isoTime(again)} on`
    if (this.#failure) return `the keys at ${host}, the tenant's jwks_uri, could not be read: ${this.#failure}${later}`
    const why = this.#isYounger(absentSince, ABSENT_FOR)
      ? `it had none at ${isoTime(absentSince)}`
      : `it was asked ${FETCHES_PER_MINUTE} times within a minute`
    return `no key read so far has its kid ${quote(kid)}, and ${host} was not asked for a new one: ${why}${later}`
  }

  async #fetch(): Promise<void> {
    try {
      const keys = await fetchJwks(this.uri, this.#timeout)
      this.#keys = await importSigningKeys(keys, this.#keys)
      this.#fetchedAt = this.#clock.wallNow()
      this.#failure = undefined
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error)
      this.#logger.warn(
        { jwks_host: hostOf(this.uri), reason: this.#failure },
        'user keys could not be read from the jwks_uri',
      )
    }
  }

  #isYounger(since: number | undefined, milliseconds: number): since is number {
    return since !== undefined && this.#clock.wallNow() - since < milliseconds
  }
}

/** The part of the URI that may be shown: the rest may be a secret. */
function hostOf(uri: string): string {
  return (URL.canParse(uri) && new URL(uri).host) || 'no host'
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

const MAX_BYTES = 1024 * 1024

/**
 * Fetches a JSON Web Key Set and returns its keys, unchecked. Throws an Error whose message gives the reason: the server is unreachable
 * or slower than `timeout` milliseconds, a redirect, a status other than 200, over 1 MiB, no key set. The message never holds the
 * URI, which may hold a secret.
 */
async function fetchJwks(uri: string, timeout: number): Promise<unknown[]> {
  const headers = { accept: 'application/jwk-set+json, application/json' }
  try {
    const response = await fetch(uri, { headers, redirect: 'error', signal: AbortSignal.timeout(timeout) })
    if (response.status === 200) return readKeys(await readBody(response.body, MAX_BYTES))
    await response.body?.cancel()
    throw new Error(`status ${response.status}`)
  } catch (error) {
    throw new Error(reasonOf(error).replaceAll(uri, 'the URL'))
  }
}

function readKeys(body: string): unknown[] {
  const set: unknown = JSON.parse(body)
  if (typeof set === 'object' && set !== null && 'keys' in set && Array.isArray(set.keys)) return set.keys
  throw new Error('no JSON Web Key Set')
}

/** fetch itself says only "fetch failed"; its cause has the reason, and for several addresses only a code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  // By our own time limit or, on a busy machine, by one of fetch itself.
  const isLate = [error, cause].some((one) => one instanceof Error && one.name.endsWith('TimeoutError'))
  if (isLate) return 'no answer in time'
  if (error instanceof SyntaxError) return 'not JSON'
  if (!(cause instanceof Error)) return error.message
  return cause.message || ('code' in cause ? String(cause.code) : error.message)
}

/** Allows a burst of `capacity` and then one every `interval` milliseconds of real time. */
class TokenBucket {
  /** Time at which the bucket is full again, in milliseconds since the Unix epoch. */
  #fullAt = 0

  constructor(
    private readonly capacity: number,
    private readonly interval: number,
    private readonly clock: SandboxClock,
  ) {}

  /** Takes a token. @returns true if one was left */
  take(): boolean {
    const now = this.clock.wallNow()
    // Real time may be set back: no wait is longer than the time to fill the bucket.
    this.#fullAt = Math.min(Math.max(this.#fullAt, now), now + this.capacity * this.interval)
    if (this.nextAt > now) return false
    this.#fullAt += this.interval
    return true
  }

  /** Time from which a token is left, in milliseconds since the Unix epoch. */
  get nextAt(): number {
    return this.#fullAt - (this.capacity - 1) * this.interval
  }
}
