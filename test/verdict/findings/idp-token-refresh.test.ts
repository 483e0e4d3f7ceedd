import { describe, expect, test } from 'vitest'
import { idpTokenRefresh } from '../../../src/verdict/findings/idp-token-refresh.ts'
import { evidenceOf } from '../evidence.ts'
import { depositWith, fetchOf, idpRefused, poolsWith, struck } from '../token-traffic.ts'

const judged = (...[exchanges, rest]: Parameters<typeof evidenceOf>) =>
  idpTokenRefresh.judge(evidenceOf(exchanges, rest))

const begun = () => [fetchOf('T1'), depositWith({ idp: 'T1' }, 'key', { at: 10, ...idpRefused })]

test('tokens that are accepted exercise nothing', () => {
  expect(judged([fetchOf('T'), poolsWith('T')]).outcome).toBe('not_exercised')
})

test('a token that never came from the identity provider is a test', () => {
  expect(judged([poolsWith('garbage', idpRefused)]).outcome).toBe('not_exercised')
})

test('another token and the same request once more pass', () => {
  const again = depositWith({ idp: 'T2' }, 'key', { at: 30 })
  expect(judged([...begun(), fetchOf('T2', { at: 20 }), again])).toMatchObject({
    outcome: 'passed',
    request_ids: [expect.anything(), again.request_id],
  })
})

test('an equal token passes when it was fetched since: those of one second are equal', () => {
  expect(judged([...begun(), fetchOf('T1', { at: 20 }), depositWith({ idp: 'T1' }, 'key', { at: 30 })]).outcome).toBe(
    'passed',
  )
})

test('giving up after one refresh passes', () => {
  expect(
    judged([...begun(), fetchOf('T2', { at: 20 }), depositWith({ idp: 'T2' }, 'key', { at: 30, ...idpRefused })])
      .outcome,
  ).toBe('passed')
})

test('the token that was refused, again, fails', () => {
  expect(judged([...begun(), depositWith({ idp: 'T1' }, 'key', { at: 30 })])).toMatchObject({
    outcome: 'failed',
    came: 'the same token again',
  })
})

test('nothing fails once the client has ended', () => {
  const next = poolsWith('T2', { at: 30 })
  expect(judged([...begun(), next])).toMatchObject({ outcome: 'failed', came: 'nothing' })
  expect(judged([...begun(), next], { ended: false }).outcome).toBe('needs_review')
})

test('refresh after refresh fails', () => {
  const loop = [2, 3, 4].flatMap((i) => [
    fetchOf(`T${i}`, { at: i * 20 }),
    depositWith({ idp: `T${i}` }, 'key', { at: i * 20 + 10, ...idpRefused }),
  ])
  expect(judged([...begun(), ...loop])).toMatchObject({ outcome: 'failed', request_ids: { length: 3 } })
})

test('a refused request whose repetition has a fresh key is judged by another finding', () => {
  expect(judged([...begun(), fetchOf('T2', { at: 20 }), depositWith({ idp: 'T2' }, 'key 2', { at: 30 })]).outcome).toBe(
    'passed',
  )
})

test('workers that share a token and send equal requests do not confuse it', () => {
  const refused = poolsWith('T1', { at: 10, ...idpRefused, ...struck('bad_signature') })
  const others = [2, 3].map((connection) => poolsWith('T1', { at: 16 + connection, connection }))
  const again = poolsWith('T2', { at: 40 })
  expect(judged([fetchOf('T1'), refused, ...others, fetchOf('T2', { at: 30 }), again])).toMatchObject({
    outcome: 'passed',
    request_ids: [expect.anything(), again.request_id],
  })
})

test('what was on its way with the refused token is no repetition', () => {
  const meanwhile = poolsWith('T1', { at: 12, ...idpRefused })
  const [first, ...rest] = [poolsWith('T1', { at: 10, until: 15, ...idpRefused }), meanwhile, fetchOf('T2', { at: 20 })]
  expect(
    judged([fetchOf('T1'), first!, ...rest, poolsWith('T2', { at: 30 }), poolsWith('T2', { at: 31 })]).outcome,
  ).toBe('passed')
})

test('one request that was let be among others that were repeated may be a test', () => {
  const repeated = [...begun(), fetchOf('T2', { at: 20 }), depositWith({ idp: 'T2' }, 'key', { at: 30 })]
  expect(judged([...repeated, poolsWith('T2', { at: 50, ...idpRefused, ...struck('error') })]).outcome).toBe(
    'needs_review',
  )
})

describe('an equal token is a fresh one', () => {
  const refused = poolsWith('T1', { at: 10, ...idpRefused })
  const again = (at: number) => poolsWith('T1', { at })
  const cases: [string, ReturnType<typeof poolsWith>[], string][] = [
    ['if it was fetched from the moment of the refusal', [fetchOf('T1', { at: 15, until: 20 }), again(20)], 'passed'],
    ['not if it was fetched while it was refused', [fetchOf('T1', { at: 14, until: 20 }), again(30)], 'failed'],
    ['not if it was still on its way', [fetchOf('T1', { at: 15, until: 40 }), again(30)], 'failed'],
    ['not if another tenant fetched it', [fetchOf('T1', { at: 15, tenant: 'globex' }), again(30)], 'failed'],
    ['not if nothing was fetched', [fetchOf('T1', { at: 15, end: 'dropped' }), again(30)], 'failed'],
  ]
  test.each(cases)('%s', (_what, exchanges, outcome) => {
    expect(judged([fetchOf('T1'), refused, ...exchanges]).outcome).toBe(outcome)
  })
})

test('another token is a fresh one, wherever it comes from', () => {
  expect(judged([...begun(), depositWith({ idp: 'T2' }, 'key', { at: 30 })]).outcome).toBe('passed')
})

test('a token that never came from the identity provider counts when a fault refused it', () => {
  expect(judged([poolsWith('T1', { ...idpRefused, ...struck('bad_signature') })]).outcome).toBe('failed')
})
