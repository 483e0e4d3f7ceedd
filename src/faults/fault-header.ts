/**
 * Parses the rule of one request's header: `drop_connection; phase=after_broadcast`. Parameters other than the rule's own fill
 * `with`; numbers, `true` and `false` are read as such.
 */
export function parseFaultHeader(header: string): Record<string, unknown> {
  return readWords(header, HEADER_RULE, new Set())
}

/** Parameters of a header that are the rule's own: other members of a rule make no sense for one request. */
const HEADER_RULE = new Set(['phase', 'probability'])

/** Parameters of a line that are the rule's own. */
const TEXT_RULE = new Set(['phase', 'skip', 'times', 'probability', 'in_a_row'])
/** Parameters of a line that belong to the rule's match. */
const TEXT_MATCH = new Set(['operation', 'tenant', 'external_id', 'end_user', 'ordinal'])

/**
 * Parses a rule on one line. It is written as in X-Sandbox-Fault, but is for many requests, so it also has a match and counts:
 * `drop_connection; phase=after_broadcast; operation=deposit; times=2`.
 */
export function parseFaultText(text: string): Record<string, unknown> {
  return readWords(text, TEXT_RULE, TEXT_MATCH)
}

/** Reads a kind and its parameters: names in `own` are members of the rule, names in `match` of its match, others of `with`. */
function readWords(text: string, own: ReadonlySet<string>, match: ReadonlySet<string>): Record<string, unknown> {
  const [kind = '', ...parameters] = (text.match(PARTS) ?? []).map((part) => part.trim())
  const rule: Record<string, unknown> = { kind }
  const parts = { match: {}, with: {} }
  for (const parameter of parameters.filter(Boolean)) {
    const [word = '', ...value] = parameter.split('=')
    const name = word.trim()
    const part = own.has(name) ? rule : match.has(name) ? parts.match : parts.with
    const text = value.join('=').trim()
    // A name in the match stays text even if it looks like a number.
    const read = part === parts.match && !COUNTS.has(name) ? unquoted(text) : literal(text)
    Object.defineProperty(part, name, { value: read, enumerable: true, configurable: true, writable: true })
  }
  return { ...rule, ...Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0)) }
}

/** Members of a match that are numbers. */
const COUNTS = new Set(['end_user', 'ordinal'])

/** Parts between semicolons; a semicolon in quotation marks belongs to a value. */
const PARTS = /(?:"[^"]*"|[^;])+/g

function literal(word: string): unknown {
  if (/^-?\d+(\.\d+)?$/.test(word)) return Number(word)
  return word === 'true' ? true : word === 'false' ? false : unquoted(word)
}

function unquoted(word: string): string {
  return /^"(.*)"$/.exec(word)?.[1] ?? word
}
