import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SnapshotError } from '../../src/snapshot/snapshot-error.ts'
import { checkSnapshot, unpackSnapshot, writeSnapshot } from '../../src/snapshot/snapshot-form.ts'
import { testNamespace } from '../helpers/partner.ts'
import { shownBy } from './rich-state.ts'

/** Written by version 0.2.0 in form 1. Every later version must load it: never write it anew, add one for each form. */
const FIRST_FORM = join(import.meta.dirname, 'form-1.snapshot')

const small = () =>
  writeSnapshot([
    { name: 'about', value: { seed: 7 } },
    { name: 'chain-31337', value: ['a', 'b'] },
  ])

test('what is written is read', async () => {
  const parts = []
  for await (const { name, value } of unpackSnapshot(checkSnapshot(Buffer.from(await small()))))
    parts.push([name, value])
  expect(parts).toEqual([
    ['about', { seed: 7 }],
    ['chain-31337', ['a', 'b']],
  ])
})

test('every changed byte and every cut is refused', async () => {
  const whole = Buffer.from(await small())
  for (let at = 0; at < whole.length; at++) {
    expect(() => checkSnapshot(whole.subarray(0, at)), `cut at byte ${at}`).toThrow(SnapshotError)
    for (const bit of [1, 2, 8, 32, 128]) {
      const changed = Buffer.from(whole)
      changed[at]! ^= bit
      expect(() => checkSnapshot(changed), `bit ${bit} of byte ${at}`).toThrow(SnapshotError)
    }
  }
})

test('a file of the first form is loaded, and shows what it showed', async () => {
  await using copy = await testNamespace({ snapshot: readFileSync(FIRST_FORM) })
  expect(await copy.audit()).toMatchObject({ ok: true })
  const shown = await shownBy(copy)
  expect(shown).toContain('2030-03-02T00:00:00.000Z')
  expect(shown).toContain('"total_balance": "2518149131"')
})
