import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Stage } from './money-at-every-phase.ts'
import { documentedRows, nameOf } from './money-table.ts'

const rows = documentedRows('withdraw')

let stage: Stage | undefined
beforeAll(async () => {
  stage = await Stage.open('withdraw', rows.length * 3)
})
afterAll(() => stage?.stop())
afterEach(() => stage?.clear())

test.each(rows.map((row) => [nameOf(row), row] as const))('withdraw, %s', async (_name, row) => {
  expect(await stage?.play(row)).toEqual(row)
})

test('in the end, ledger and chain say the same of everybody', async () => {
  await stage?.expectAudited()
})
