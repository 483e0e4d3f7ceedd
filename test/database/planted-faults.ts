import type { Database } from '../../src/database/database.ts'

/**
 * Mistakes that the design rules out, each of which must be found:
 * - `gate`: reads are answered although the lease does not hold
 * - `owner`: a commit is fenced by its epoch and head alone
 * - `dead`: a namespace is taken of a process that is not declared dead
 * - `zero`: a commit without an answer, or without a row, is taken for a loss
 * - `named`: statements are prepared by name, which PgBouncer's transaction mode cannot do
 */
export const PLANTED_FAULTS = ['gate', 'owner', 'dead', 'zero', 'named'] as const
export type PlantedFault = (typeof PLANTED_FAULTS)[number]

/** Plants those that are in a statement. The others are in the process itself. */
export function plant(fault: PlantedFault | '', { statements }: Database): void {
  const change = (text: string, from: string, to: string) => {
    if (!text.includes(from)) throw new Error(`there is no "${from}" to plant a fault in`)
    return text.replace(from, to)
  }
  if (fault === 'owner') {
    const { commit } = statements
    statements.commit = (rows) => change(commit(rows), 'and owner = $2 ', 'and $2::text is not null ')
  } else if (fault === 'dead') {
    statements.takeOfDead = change(statements.takeOfDead, 'set dead = true', 'set dead = dead')
  } else if (fault === 'zero') {
    statements.standing = change(statements.standing, 'select name, owner,', 'select name, null::uuid as owner,')
  }
}
