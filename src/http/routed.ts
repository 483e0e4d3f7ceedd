/** A path as the router reads it: `/%5fsandbox/` is `/_sandbox/`. Without the query; what cannot be decoded stays as it is. */
export function routed(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  if (!path.includes('%')) return path
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
