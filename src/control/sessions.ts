import type { FastifyRequest } from 'fastify'
import { Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'
import { SeededRandom } from '../support/random.ts'
import type { SealedTexts } from '../support/sealed-texts.ts'

/** Milliseconds of real time within which a code has to be used. */
const CODE_LIFETIME_MS = 15 * 60_000

/** Milliseconds of real time for which a sealed session is good. */
const SEALED_LIFETIME_MS = 12 * 60 * 60_000

/** Most codes and most sessions at once: a further one ends the oldest. */
const MOST = 64

/** Methods that change nothing. */
const READING = new Set(['GET', 'HEAD'])

/** Dependencies of {@link Sessions}. */
export interface SessionsDeps {
  /** Address of the sandbox: its port is part of the cookie's name. */
  origin: Pick<Origin, 'url'>
  /** Milliseconds of real time since the Unix epoch. */
  wallNow(): number
  /** In one of several processes: each of them knows the sessions of all, as these are sealed in the cookies. */
  seals?: Pick<SealedTexts, 'seal' | 'open'> | undefined
}

/**
 * Sessions of browsers that may use the control interface: each begins with a control token or a code that is used once, and is a secret
 * of its own in a cookie. It opens what that token opens, as long as the token does. Sessions are kept in memory alone and so end with the
 * sandbox; those of several processes are in the cookies, sealed, and good for twelve hours.
 */
export class Sessions {
  readonly #deps: SessionsDeps
  /** Moment at which each code expires, the oldest code first. */
  readonly #codes = new Map<string, number>()
  /** The control token that each session stands for, the oldest session first. */
  readonly #sessions = new Map<string, string>()

  constructor(deps: SessionsDeps) {
    this.#deps = deps
  }

  /** Returns a code for one session. */
  issueCode(): string {
    const code = SeededRandom.secret()
    this.#codes.set(code, this.#deps.wallNow() + CODE_LIFETIME_MS)
    dropOldest(this.#codes)
    return code
  }

  /** Uses a code up. @returns true if it was good */
  redeem(code: string): boolean {
    const expiry = this.#codes.get(code)
    this.#codes.delete(code)
    return expiry !== undefined && this.#deps.wallNow() < expiry
  }

  /** Begins a session for a control token. Returns the value of `Set-Cookie`; `secure` is true if the browser came by https. */
  begin(token: string, secure: boolean): string {
    const { seals, wallNow } = this.#deps
    if (seals) return this.#cookie(seals.seal(`${wallNow() + SEALED_LIFETIME_MS} ${token}`), secure)
    const session = SeededRandom.secret()
    this.#sessions.set(session, token)
    dropOldest(this.#sessions)
    return this.#cookie(session, secure)
  }

  /** Ends the sessions of a request, if it has any. Returns the value of `Set-Cookie` that makes the browser forget the cookie. */
  end(request: FastifyRequest, secure: boolean): string {
    for (const session of this.#sent(request)) this.#sessions.delete(session)
    return `${this.#cookie('', secure)}; Max-Age=0`
  }

  /**
   * The control token that a request's session stands for; undefined without a session. A browser also sends the cookie for pages on
   * other ports of the host, so it counts only if the browser says that a page of the sandbox asks. Throws Problem control_forbidden.
   */
  tokenOf(request: FastifyRequest): string | undefined {
    const [token] = this.#sent(request).flatMap((session) => this.#sessions.get(session) ?? this.#sealed(session) ?? [])
    if (token === undefined) return undefined
    const { 'sec-fetch-site': site, origin } = request.headers
    // `none`: somebody typed the address. A foreign Origin has been refused before; browsers that say no site send it when they change something.
    const own = READING.has(request.method)
      ? site === undefined || site === 'same-origin' || site === 'none'
      : site === 'same-origin' || (site === undefined && origin !== undefined)
    if (own) return token
    const detail = 'The cookie of a session is good for the pages of the sandbox alone; send the control token instead.'
    throw new Problem('control_forbidden', { detail, param: site === undefined ? 'Origin' : 'Sec-Fetch-Site' })
  }

  #sealed(session: string): string | undefined {
    const [, expiry, token] = /^(\d+) (.+)$/s.exec(this.#deps.seals?.open(session) ?? '') ?? []
    return this.#deps.wallNow() < Number(expiry) ? token : undefined
  }

  /** Cookies are shared by all ports of a host: each sandbox has a name of its own, so that none overwrites that of another. */
  get #name(): string {
    const { port, protocol } = new URL(this.#deps.origin.url)
    return `yield_sandbox_${port || (protocol === 'https:' ? '443' : '80')}`
  }

  #cookie(session: string, secure: boolean): string {
    return `${this.#name}=${session}; Path=/_sandbox; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  }

  /** The values that a request has under the cookie's name. */
  #sent({ headers: { cookie = '' } }: FastifyRequest): string[] {
    const beginning = `${this.#name}=`
    return cookie
      .split(';')
      .map((pair) => pair.trim())
      .flatMap((pair) => (pair.startsWith(beginning) ? [pair.slice(beginning.length)] : []))
  }
}

function dropOldest(kept: Map<string, unknown>): void {
  const [oldest] = kept.keys()
  if (kept.size > MOST && oldest !== undefined) kept.delete(oldest)
}
