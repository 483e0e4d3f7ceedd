import { expect, test } from 'vitest'
import { catalogue } from '../../src/catalogue/catalogue.ts'
import { ERRORS } from '../../src/domain/errors.ts'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'

test('every error code is explained as docs/errors.md has it, those of the service with what a client does', async () => {
  const codes = (await catalogue()).filter(({ is }) => is === 'error code')
  expect(codes.map(({ id }) => id)).toEqual(Object.keys(ERRORS))
  const ofControl = Object.entries(ERRORS).filter(([, { row }]) => row === 'sandbox-routes' || row === 'namespaces')
  const explained = codes.filter(({ says }) => says.some(([label]) => label === 'what to do')).map(({ id }) => id)
  const unexplained = Object.keys(ERRORS).filter((code) => !explained.includes(code))
  expect(unexplained.filter((code) => !ofControl.some(([one]) => one === code))).toEqual([])
})

test.each([
  [
    'insufficient_balance',
    /^error code\tinsufficient_balance\n(?:.*\n)*what to do\ttell the user; another amount takes/,
  ],
  ['pool_not_found', /^what to do\ttake all four/m],
  ['retry-after', /^finding\tretry-after\n(?:.*\n)*fix\tRead Retry-After/],
  ['drop_connection', /^fault kind\tdrop_connection\ndoes\tThe connection is reset/],
  ['dropped-deposit', /^scenario\tdropped-deposit\n(?:.*\n)*fault\tdrop_connection: .*\nasks for\toutcome-after-drop/],
  ['paid_twice', /^outcome\tpaid_twice\nmeans\tpaid twice\nlevel\tcritical/],
  ['3', /^exit code\t3\nmeans\tthe verdict is failed/],
  ['409', /^idempotency_key_in_progress\t/m],
])('explain %s', async (id, text) => {
  const { code, stdout, stderr } = await runHere(['explain', id])
  expect(stdout).toMatch(text)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test('of a word that stands for two things, both are explained', async () => {
  const { stdout } = await runHere(['explain', 'idp-token-expiry', '--json'])
  expect(JSON.parse(stdout).map(({ is }: { is: string }) => is)).toEqual(['finding', 'scenario'])
})

test.each([
  ['dropped_deposit', /did you mean "dropped-deposit"\?/],
  ['retry-aftr', /did you mean "retry-after"\?/],
  ['zzzzzz', /there is nothing called "zzzzzz": .*findings, faults kinds and scenario list/],
])('explain %s is refused with the fix', async (id, line) => {
  expectClear(await runHere(['explain', id]), { code: 2, line })
})
