import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Stage } from './money-at-every-phase.ts'
import { nameOf, type Row } from './money-table.ts'

/** Plays these rows of the table, each with accounts of its own; with a fresh key those that `withFresh` names, by default all. */
export function playRows(
  operation: 'deposit' | 'withdraw',
  rows: readonly Row[],
  withFresh: (row: Row) => boolean = () => true,
): void {
  let stage: Stage | undefined
  beforeAll(async () => {
    stage = await Stage.open(operation, rows.length * 2 + rows.filter(withFresh).length)
  })
  afterAll(() => stage?.stop())
  afterEach(() => stage?.clear())

  test.each(rows.map((row) => [nameOf(row), row] as const))(`${operation}, %s`, async (_name, row) => {
    expect(await stage?.play(row, withFresh(row))).toEqual(row)
  })

  test('in the end, ledger and chain say the same of everybody', async () => {
    await stage?.expectAudited()
  })
}
