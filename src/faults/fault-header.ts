/**
 * A rule as one request brings it along: `drop_connection; phase=after_broadcast`. Parameters that are not the rule's
 * own fill `with`, and words that are numbers or truth values are read as such.
 */
export function parseFaultHeader(header: string): Record<string, unknown> {
  const [kind = '', ...parameters] = (header.match(PARTS) ?? []).map((part) => part.trim())
  const rule: Record<string, unknown> = { kind }
  const rest: Record<string, unknown> = {}
  for (const parameter of parameters.filter(Boolean)) {
    const [name = '', ...value] = parameter.split('=')
    const read = literal(value.join('=').trim())
    if (RULE_PARAMETERS.has(name.trim())) rule[name.trim()] = read
    else Object.defineProperty(rest, name.trim(), { value: read, enumerable: true, configurable: true })
  }
  return { ...rule, ...(Object.keys(rest).length > 0 && { with: rest }) }
}

/** What stands between semicolons; those in quotation marks belong to a value. */
const PARTS = /(?:"[^"]*"|[^;])+/g

/** The rest of a rule makes no sense for one request. */
const RULE_PARAMETERS = new Set(['phase', 'probability'])

function literal(word: string): unknown {
  const bare = /^"(.*)"$/.exec(word)?.[1] ?? word
  if (/^-?\d+(\.\d+)?$/.test(word)) return Number(word)
  return word === 'true' ? true : word === 'false' ? false : bare
}
