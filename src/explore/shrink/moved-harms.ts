import type { Harm, Position } from '../exploration.ts'

/**
 * Harms where they come to stand when others are left out: who is not harmed does not repeat its request, so that each later request of
 * that operation and end user comes one earlier. Undefined when all of them stay where they are.
 */
export function movedHarms<H extends Harm>(left: readonly H[], without: readonly Harm[]): readonly H[] | undefined {
  const moved = left.map((harm) => {
    const { position } = harm
    const earlier = without.filter((other) => comesBefore(other.position, position)).length
    return earlier === 0 ? harm : { ...harm, position: { ...position, ordinal: position.ordinal - earlier } }
  })
  return moved.some((harm, i) => harm !== left[i]) ? moved : undefined
}

function comesBefore(one: Position, other: Position): boolean {
  const of = ({ operation, tenant, external_id, end_user }: Position) =>
    JSON.stringify([operation, tenant, external_id, end_user])
  return of(one) === of(other) && one.ordinal < other.ordinal
}
