/** A header's value, the first of several; the name in lower case. */
export function headerOf(headers: readonly [string, string][], name: string): string | undefined {
  return headers.find(([sent]) => isNamed(sent, name))?.[1]
}

/** All values of a header; see {@link headerOf}. */
export function headersOf(headers: readonly [string, string][], name: string): string[] {
  return headers.filter(([sent]) => isNamed(sent, name)).map(([, value]) => value)
}

/** As {@link headerOf}, for Node's raw headers: names and values in turns. */
export function rawHeaderOf(headers: readonly string[], name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) {
    if (isNamed(headers[at] ?? '', name)) return headers[at + 1]
  }
  return undefined
}

function isNamed(sent: string, name: string): boolean {
  return sent.length === name.length && sent.toLowerCase() === name
}
