import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { Sessions } from '../../src/control/sessions.ts'

const MINUTE = 60_000

function at(url: string) {
  let now = 0
  const sessions = new Sessions({ origin: { url }, wallNow: () => now })
  return { sessions, pass: (milliseconds: number) => (now += milliseconds) }
}

const asking = (cookie: string) =>
  ({ method: 'GET', headers: { cookie: cookie.split(';')[0] } }) as unknown as FastifyRequest

test('a code is good for 15 minutes of real time, and once', () => {
  const { sessions, pass } = at('http://127.0.0.1:4010')
  const [first, second, third] = [sessions.issueCode(), sessions.issueCode(), sessions.issueCode()]
  pass(15 * MINUTE - 1)
  expect([sessions.redeem(first), sessions.redeem(first)]).toEqual([true, false])
  pass(1)
  expect(sessions.redeem(second)).toBe(false)
  pass(-2 * MINUTE) // also if the machine's clock is set back: it was used up
  expect([sessions.redeem(second), sessions.redeem(third)]).toEqual([false, true])
  for (const never of ['', 'x', first]) expect(sessions.redeem(never)).toBe(false)
})

test('there are 64 codes and 64 sessions at most: a further one ends the oldest', () => {
  const { sessions } = at('http://127.0.0.1:4010')
  const codes = Array.from({ length: 65 }, () => sessions.issueCode())
  expect(new Set(codes).size).toBe(65)
  expect(codes.map((code) => sessions.redeem(code))).toEqual([false, ...Array(64).fill(true)])
  const cookies = Array.from({ length: 65 }, () => sessions.begin('a-token', false))
  expect(cookies.map((cookie) => sessions.tokenOf(asking(cookie)))).toEqual([undefined, ...Array(64).fill('a-token')])
})

test.each([
  ['http://127.0.0.1:4010', 'yield_sandbox_4010'],
  ['https://sandbox.test:8443', 'yield_sandbox_8443'],
  ['https://sandbox.test', 'yield_sandbox_443'],
  ['http://sandbox.test', 'yield_sandbox_80'],
])('the cookie of %s is named after its port: %s', (url, name) => {
  expect(at(url).sessions.begin('a-token', false)).toMatch(
    new RegExp(`^${name}=[\\w-]{32}; Path=/_sandbox; HttpOnly; SameSite=Strict$`),
  )
  expect(at(url).sessions.begin('a-token', true)).toMatch(/; Secure$/)
})

test('no other cookie counts, nor one of another sandbox; of several with the name, one may be good', () => {
  const { sessions } = at('http://127.0.0.1:4010')
  const [pair = ''] = sessions.begin('a-token', false).split(';')
  const [name, value] = pair.split('=')
  const admits = (cookie: string) =>
    sessions.tokenOf({ method: 'GET', headers: { cookie } } as unknown as FastifyRequest) === 'a-token'
  for (const good of [pair, `a=b; ${pair}; c=d`, `${name}=old; ${pair}`, `a=b;${pair}`]) expect(admits(good)).toBe(true)
  const bad = [
    '',
    name!,
    `${name}=`,
    `${pair}x`,
    `x${pair}`,
    `yield_sandbox_4011=${value}`,
    `${name}=undefined`,
    value!,
  ]
  for (const cookie of bad) expect(admits(cookie)).toBe(false)
  expect(at('http://127.0.0.1:4010').sessions.tokenOf(asking(pair))).toBeUndefined()
})
