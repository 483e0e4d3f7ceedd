import { expect, test } from 'vitest'
import { audiencesOf } from '../../src/domain/idp-claims.ts'

test.each([
  ['api://yield-sandbox', 'yield-sandbox'],
  ['https://yield.example', 'api://https://yield.example'],
  ['yield-sandbox', 'api://yield-sandbox'],
  ['api://', 'api://api://'],
])('%s: as it is; %s too where scopes have two forms', (audience, other) => {
  expect(audiencesOf({ audience, idp_scopes: 'one' })).toEqual([audience])
  expect(audiencesOf({ audience, idp_scopes: 'two' })).toEqual([audience, other])
})
