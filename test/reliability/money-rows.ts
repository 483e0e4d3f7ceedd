import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Stage } from './money-at-every-phase.ts'
import { nameOf, type Row } from './money-table.ts'

/** Plays these rows of the table, each with accounts of its own. */
export function playRows(operation: 'deposit' | 'withdraw', rows: readonly Row[]): void {
  let stage: Stage | undefined
  beforeAll(async () => {
    stage = await Stage.open(operation, rows.length * 3)
  })
  afterAll(() => stage?.stop())
  afterEach(() => stage?.clear())

  test.each(rows.map((row) => [nameOf(row), row] as const))(`${operation}, %s`, async (_name, row) => {
    expect(await stage?.play(row)).toEqual(row)
  })

  test('in the end, ledger and chain say the same of everybody', async () => {
    await stage?.expectAudited()
  })
}
