import { overBudget } from '../json-rpc/rpc-budget.ts'

/** Members of a type, those of its structs and every array of arrays counted as often as they stand in it. */
const MOST_MEMBERS = 1_000

/**
 * Throws RpcError for typed data (EIP-712), or JSON of it, whose types hold too much: the node writes out each struct wherever it
 * is named. Forty structs that hold the next one twice fill any memory; arrays 100,000 deep, its stack.
 */
export function checkTypedData(method: string, given: unknown): void {
  const types = typesIn(given)
  const sizes = new Map<string, number>()
  for (const name of Object.keys(types)) {
    if (sizeOf(name, { types, sizes, depth: 0 }) <= MOST_MEMBERS) continue
    throw overBudget(method, `a type has more than ${MOST_MEMBERS} members, those of its structs and arrays included`)
  }
}

function typesIn(given: unknown): Readonly<Record<string, unknown>> {
  try {
    const data: unknown = typeof given === 'string' ? JSON.parse(given) : given
    return Object((Object(data) as { types?: unknown }).types)
  } catch {
    return {} // the node refuses it
  }
}

interface Measuring {
  types: Readonly<Record<string, unknown>>
  /** Of the structs measured so far; 0 of those around this one: the node refuses circles. */
  sizes: Map<string, number>
  depth: number
}

/** Of a struct that holds too much, a number that is too high. */
function sizeOf(name: string, { types, sizes, depth }: Measuring): number {
  const known = sizes.get(name)
  if (known !== undefined) return known
  if (depth > MOST_MEMBERS) return depth
  sizes.set(name, 0)
  const members = types[name]
  let size = 1
  for (const member of Array.isArray(members) ? members : []) {
    const { type } = Object(member) as { type?: unknown }
    if (typeof type !== 'string') continue
    const [base = '', ...around] = type.split(/[[(]/)
    size += 1 + around.length
    if (Object.hasOwn(types, base.trim())) size += sizeOf(base.trim(), { types, sizes, depth: depth + 1 })
    if (size > MOST_MEMBERS) break
  }
  sizes.set(name, size)
  return size
}
