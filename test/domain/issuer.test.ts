import { expect, test } from 'vitest'
import { isIssuer } from '../../src/domain/idp-claims.ts'
import { Origin } from '../../src/domain/origin.ts'

const ORIGIN = Origin.listening({ scheme: 'http', host: undefined, port: 4010 })

test.each<[unknown, unknown, boolean]>([
  ['http://127.0.0.1:4010', 'acme', true],
  ['http://localhost:4010', 'acme', true],
  ['http://127.0.0.1:4010/acme/v2.0', 'acme', true],
  ['http://[::1]:4010/acme/v2.0', 'acme', true],
  ['http://127.0.0.1:4010/globex/v2.0', 'acme', false],
  ['http://127.0.0.1:4010/acme', 'acme', false],
  ['http://127.0.0.1:4010/', 'acme', false],
  ['http://127.0.0.1:4011', 'acme', false],
  ['https://127.0.0.1:4010', 'acme', false],
  ['http://127.0.0.1:4010', undefined, true],
  ['http://127.0.0.1:4010/undefined/v2.0', undefined, false],
  // A tid that is no text names no tenant, whatever it is as a text.
  ['http://127.0.0.1:4010/7/v2.0', 7, false],
  [undefined, 'acme', false],
])('whether %j issues a token of tenant %j: %j', (iss, tenantId, issues) => {
  expect(isIssuer(iss, tenantId, ORIGIN)).toBe(issues)
})
