import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Bench, judge } from './bench.ts'
import { BEHAVIOUR_NAMES, clientOf } from './clients.ts'
import { complaintsAbout, sampleOf, titleOf } from './table/complaints.ts'
import { ROWS } from './table/index.ts'

describe('the table', () => {
  test('has every worker', () => {
    const workers = ROWS.flatMap(({ name, worker = name, library, program }) => (library || program ? [] : [worker]))
    expect([...new Set(workers)].sort()).toEqual([...BEHAVIOUR_NAMES].sort())
    expect(new Set(ROWS.map(({ name }) => name)).size).toBe(ROWS.length)
  })

  test('says of every wrong client what finds it', () => {
    expect(ROWS.filter(({ right, found }) => !right && !found).map(({ name }) => name)).toEqual([])
  })
})

// All of them: clients.long.test.ts.
describe.concurrent('a client comes to what the table says', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await Bench.open()
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  const samples = ROWS.filter(({ name }) => ['same-key', 'looks-in-list', 'fresh-key'].includes(name)).flatMap((row) =>
    sampleOf(row).map((situation) => ({ row, situation })),
  )
  test.each(samples.map(({ row, situation }) => [row.name, titleOf(situation), row, situation] as const))(
    '%s: %s',
    async (_name, _title, row, situation) => {
      expect(complaintsAbout(row, situation, await judge(await bench.run(await clientOf(row), situation)))).toEqual([])
    },
  )
})
