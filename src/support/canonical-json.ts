/**
 * JSON with the members of objects in one order, so that a serializer's habit does not make the same value look different. Empty for
 * what JSON cannot say, such as undefined.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, inOrder) ?? ''
}

function inOrder(_key: string, member: unknown): unknown {
  if (member === null || typeof member !== 'object' || Array.isArray(member)) return member
  return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
}
