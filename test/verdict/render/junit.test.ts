import { expect, test } from 'vitest'
import { renderJunit } from '../../../src/verdict/render/junit.ts'
import { HOSTILE, sampleReport } from './sample-report.ts'
import { parseXml } from './xml.ts'

test('has a suite for each report, and counts what is in it', () => {
  const { name, children } = parseXml(renderJunit([sampleReport(), sampleReport()]))
  expect([name, children.map((suite) => suite.name)]).toEqual(['testsuites', ['testsuite', 'testsuite']])
  const { attributes, children: cases } = children[0]!
  const ending = (element: string) => cases.filter((one) => one.children.some((child) => child.name === element)).length
  expect(attributes).toMatchObject({
    name: 'yield-sandbox: dropped-deposit',
    tests: String(cases.length),
    failures: String(ending('failure')),
    errors: String(ending('error')),
    skipped: String(ending('skipped')),
  })
  expect([ending('failure'), ending('skipped')]).toEqual([8, 13])
})

test('says with a failure what is wrong, and why with what was skipped', () => {
  const [suite] = parseXml(renderJunit([sampleReport()])).children
  const find = (id: string) => suite!.children.find(({ attributes }) => attributes.name === id)!.children[0]!
  const failure = find('idempotency-key-on-retry')
  expect(failure.attributes).toMatchObject({
    type: 'critical',
    message: expect.stringContaining('new Idempotency-Key'),
  })
  expect(failure.text).toContain('Again: yield-sandbox exec --scenario dropped-deposit --seed 4711')
  expect(find('single-transfer')).toMatchObject({
    name: 'skipped',
    attributes: { message: expect.stringContaining('alice') },
  })
  expect(find('set-up: user-token-issuer')).toMatchObject({ name: 'error' })
})

test('says of an operation that keeps the verdict from passed what became of it', () => {
  const [suite] = parseXml(renderJunit([sampleReport()])).children
  const cases = suite!.children.filter(({ attributes }) => attributes.name!.startsWith('operation: '))
  expect(
    cases.map(({ attributes, children: [said] }) => [attributes.name, said!.name, said!.attributes.message]),
  ).toEqual([
    ['operation: deposit of alice', 'failure', expect.stringMatching(/^paid twice: alice's deposit/)],
    ['operation: deposit of alice', 'skipped', expect.stringMatching(/^left open: alice's deposit/)],
  ])
})

test.each(HOSTILE)('is well-formed whatever a client sent (%#)', (text) => {
  expect(parseXml(renderJunit([sampleReport(text)])).name).toBe('testsuites')
})
