import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../cli/command.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const STEPS = [...read('docs/a-deposit.md').matchAll(/`(src\/[\w./-]+\.ts)` `(\w+)`/g)]

/** A function, a method, or a property that holds one, where it is declared. */
const declares = (source: string, name: string) =>
  new RegExp(
    `^\\s*(export |async |private )*(function |const )?${name}\\b\\s*(<[^>]*>)?(\\(.*\\{$|\\($|: .* =|\\s*=)`,
    'm',
  ).test(source)

test('the way of a deposit has its steps', () => {
  expect(STEPS.length).toBeGreaterThanOrEqual(20)
})

test.each(STEPS.map(([, file = '', name = '']) => [name, file]))('%s is declared in %s', (name, file) => {
  expect(declares(read(file), name)).toBe(true)
})

test('a file that the page names without a function exists', () => {
  const named = [...read('docs/a-deposit.md').matchAll(/`(src\/[\w./-]+\.ts)`/g)].map(([, file = '']) => file)
  expect(named.map((file) => read(file).length > 0)).not.toContain(false)
})

test('where the way goes from one part to another, the code names the step', () => {
  const joints = [1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18]
  const files = new Set(STEPS.map(([, file = '']) => file))
  const comments = [...files].flatMap((file) => read(file).match(/^ *\/\/ Steps? .*/gm) ?? []).join('\n')
  const missing = joints.filter((step) => !new RegExp(`\\bSteps?( \\d+ and)? ${step}\\b`).test(comments))
  expect(missing).toEqual([])
})
