/** What the page shows first: the newest rows, as many as a window has room for, and the clock. */
const FIRST_ROUTES = ['operations?limit=40', 'clock']

/** `base`: path of a namespace's control interface, with a slash at its end. */
function ask(base: string): Promise<Response>[] {
  return FIRST_ROUTES.map((route) => fetch(base + route, { cache: 'no-store' }))
}

// A script of its own, which is there before the page's: the sandbox looks for the rows while the browser reads the other.
const { hash } = location
const name = /[?&]namespace=([^&]+)/.exec(hash)?.[1]
let early = name === undefined ? '/_sandbox/' : `/_sandbox/namespaces/${name}/`
// With a one-time code the session comes first.
const asked = hash.startsWith('#code=') ? null : ask(early)

/** Asks for {@link FIRST_ROUTES}; the first time, this may have happened already. */
export function first(base: string): Promise<Response>[] {
  const isEarly = base === early
  early = ''
  return (isEarly && asked) || ask(base)
}
