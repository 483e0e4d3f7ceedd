import { expect, test } from 'vitest'
import { KINDS } from '../../src/faults/kinds/index.ts'
import { TRANSFER_PHASES } from '../../src/faults/phase.ts'
import { documentedRows } from './money-table.ts'

test('every fault that can strike a transfer has a row at each of its phases', () => {
  const rows = new Set(documentedRows().map(({ fault, phase }) => `${fault.split(';')[0]} at ${phase}`))
  // One that goes on does to each attempt as drop_connection or error does, until the client does something else: docs/faults.md.
  const strikes = KINDS.filter(({ phases, goesOn }) => !goesOn && phases.some((phase) => TRANSFER_PHASES.has(phase)))
  const expected = strikes.flatMap(({ kind, phases }) => phases.map((phase) => `${kind} at ${phase}`))
  expect(expected.filter((one) => !rows.has(one))).toEqual([])
})
