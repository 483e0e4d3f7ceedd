import { shorten } from './support/foreign-text.ts'
import { UnreadableTextError } from './support/issue.ts'
import { parseDuration, parseMoment } from './support/quantities.ts'

/* How the options of a start are read whose values are texts of a form of their own. */

/** The origin a URL is. Throws UnreadableTextError, which does not repeat the URL: it may hold a password. */
export function publicOrigin(text: string): string {
  const fix = 'give an origin such as https://sandbox.acme.test:4010'
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) {
    throw new UnreadableTextError('must be an http or https URL', fix)
  }
  const { origin, username, password, pathname, search, hash } = new URL(text)
  const excess = [
    [username || password, 'credentials'],
    [pathname !== '/', 'a path'],
    [search || text.includes('?'), 'a query'],
    [hash || text.includes('#'), 'a fragment'],
  ].flatMap(([there, what]) => (there ? [what] : []))
  if (excess.length === 0) return origin
  throw new UnreadableTextError(`must not have ${excess.join(' or ')}`, fix)
}

/** Throws UnreadableTextError, which does not repeat the URL: it may hold a key. */
export function forkedUrl(text: string): void {
  if (/^https?:\/\/[^\s/]+\S*$/.test(text) && URL.canParse(text)) return
  throw new UnreadableTextError('must be an http or https URL', 'write it like https://mainnet.base.org')
}

/** Throws UnreadableTextError, which does not repeat the URL: it may hold a password. */
export function databaseUrl(text: string): void {
  if (/^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(text)) return
  throw new UnreadableTextError('must be a postgres URL', 'write it like postgres://sandbox@localhost/sandbox')
}

/** Throws UnreadableTextError for an empty text. */
export function notEmpty(text: string): void {
  if (text !== '') return
  throw new UnreadableTextError('must not be empty', 'leave it out for one that is made, or for none on loopback')
}

/** The embedded chain's state is from the first seconds of 2025, and its time only moves forward. */
const EARLIEST = Date.UTC(2025, 0, 2)
const LATEST = Date.UTC(9000, 0, 1)

/** A block time. Throws UnreadableTextError: blocks carry whole seconds, so none can follow another within one. */
export function parseBlockTime(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds >= 1_000) return milliseconds
  throw new UnreadableTextError(`must be 1s at least; got "${shorten(text)}"`, 'write it like 2s')
}

/** The moment a clock starts at, in milliseconds since the Unix epoch. Throws UnreadableTextError. */
export function parseClockStart(text: string): number {
  const time = parseMoment(text)
  if (time >= EARLIEST && time <= LATEST) return time
  const problem = `must be an ISO 8601 moment from 2025-01-02 on; got "${shorten(text)}"`
  throw new UnreadableTextError(problem, 'write it like 2030-01-01T00:00:00Z')
}
