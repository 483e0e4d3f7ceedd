/**
 * A rule as one request brings it along: `drop_connection; phase=after_broadcast`. Parameters that are not the rule's
 * own fill `with`, and words that are numbers or truth values are read as such.
 */
export function parseFaultHeader(header: string): Record<string, unknown> {
  return readWords(header, HEADER_RULE, new Set())
}

/** Parameters of a header that are the rule's own: the rest of a rule makes no sense for one request. */
const HEADER_RULE = new Set(['phase', 'probability'])

/** Parameters of a line that are the rule's own. */
const TEXT_RULE = new Set(['phase', 'skip', 'times', 'probability', 'in_a_row'])
/** Parameters of a line that say where it applies. */
const TEXT_MATCH = new Set(['operation', 'tenant', 'external_id', 'end_user', 'ordinal'])

/**
 * A rule on one line, as the header X-Sandbox-Fault has it, but one for many requests, which can say where and how often:
 * `drop_connection; phase=after_broadcast; operation=deposit; times=2`.
 */
export function parseFaultText(text: string): Record<string, unknown> {
  return readWords(text, TEXT_RULE, TEXT_MATCH)
}

/** Reads a kind and its parameters: those of the names in `own` are the rule's, those of `match` its match's, the rest fill `with`. */
function readWords(text: string, own: ReadonlySet<string>, match: ReadonlySet<string>): Record<string, unknown> {
  const [kind = '', ...parameters] = (text.match(PARTS) ?? []).map((part) => part.trim())
  const rule: Record<string, unknown> = { kind }
  const parts = { match: {}, with: {} }
  for (const parameter of parameters.filter(Boolean)) {
    const [word = '', ...value] = parameter.split('=')
    const name = word.trim()
    const part = own.has(name) ? rule : match.has(name) ? parts.match : parts.with
    const text = value.join('=').trim()
    // Who is meant is a name, whatever it looks like; the how-manyth, a number.
    const read = part === parts.match && !COUNTS.has(name) ? unquoted(text) : literal(text)
    Object.defineProperty(part, name, { value: read, enumerable: true, configurable: true, writable: true })
  }
  return { ...rule, ...Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0)) }
}

/** Of a match, what counts. */
const COUNTS = new Set(['end_user', 'ordinal'])

/** What stands between semicolons; those in quotation marks belong to a value. */
const PARTS = /(?:"[^"]*"|[^;])+/g

function literal(word: string): unknown {
  if (/^-?\d+(\.\d+)?$/.test(word)) return Number(word)
  return word === 'true' ? true : word === 'false' ? false : unquoted(word)
}

function unquoted(word: string): string {
  return /^"(.*)"$/.exec(word)?.[1] ?? word
}
