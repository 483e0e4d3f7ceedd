import { UnreadableTextError } from './issue.ts'

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
