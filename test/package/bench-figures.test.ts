import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { ROOT } from '../cli/command.ts'

interface Row {
  what: string
  value: number
  unit: string
  beside: string
  reference?: number
}

interface Entry {
  node: string
  machine: string
  recorded: string
  ratios: Record<string, number>
}

const { ratiosOf, warningsOf, withRun } = (await import(
  pathToFileURL(join(ROOT, 'bench/support/figures.mjs')).href
)) as {
  ratiosOf(rows: Row[]): Record<string, number>
  warningsOf(rows: Row[], recorded: Entry[], node: string): string[]
  withRun(recorded: Entry[], run: Entry): Entry[]
}

const start = (value: number): Row => ({ what: 'start', value, unit: 'ms', beside: 'Fastify', reference: 100 })
const rate = (value: number): Row => ({ what: 'pools', value, unit: '/s', beside: 'bare route', reference: 1000 })
const entry = (node: string, ratios: Record<string, number>): Entry => ({
  node,
  machine: '2 × processor',
  recorded: '2026-11-27',
  ratios,
})
const RECORDED = [entry('v20.20.2', { 'start, beside Fastify': 1.5, 'pools, beside bare route': 0.7 })]

test('a ratio is the value by the reference, by name; a row without a reference has none', () => {
  const { reference: _, ...alone } = start(150)
  expect(ratiosOf([start(150), rate(700)])).toEqual(RECORDED[0]?.ratios)
  expect(ratiosOf([alone])).toEqual({})
})

test('a warning says which ratio is more than a tenth worse than the recorded one, and where that was measured', () => {
  const warnings = warningsOf([start(180), rate(600)], RECORDED, 'v20.19.0')
  expect(warnings).toEqual([
    'start, beside Fastify: the ratio is 1.80, 20 % worse than 1.50 (2026-11-27, Node v20.20.2, 2 × processor)',
    'pools, beside bare route: the ratio is 0.60, 17 % worse than 0.70 (2026-11-27, Node v20.20.2, 2 × processor)',
  ])
})

test('there is no warning of what is better, a tenth worse at most, or not recorded', () => {
  expect(warningsOf([start(164), rate(640)], RECORDED, 'v20.20.2')).toEqual([])
  expect(warningsOf([start(10), rate(7000)], RECORDED, 'v20.20.2')).toEqual([])
  expect(warningsOf([{ ...start(900), beside: 'another' }], RECORDED, 'v20.20.2')).toEqual([])
})

test('a run is compared with the figures of its own major version of Node', () => {
  expect(warningsOf([start(900)], RECORDED, 'v24.1.0')).toEqual([
    'Nothing has been recorded for Node 24: npm run bench -- --record',
  ])
})

test('a recorded run replaces what it measured, of its own major version of Node alone', () => {
  const other = entry('v24.21.0', { 'start, beside Fastify': 2 })
  const run = { ...entry('v20.21.0', { 'start, beside Fastify': 1.4 }), recorded: '2026-12-01' }
  expect(withRun([other, ...RECORDED], run)).toEqual([
    { ...run, ratios: { 'start, beside Fastify': 1.4, 'pools, beside bare route': 0.7 } },
    other,
  ])
})
