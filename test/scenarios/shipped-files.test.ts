import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { shippedScenarios } from '../../src/scenarios/find-scenario.ts'
import { EditorSchema } from '../../src/scenarios/scenario-schema.ts'

const directory = fileURLToPath(new URL('../../scenarios/', import.meta.url))

test('every shipped scenario is named after its file and points editors at the schema', async () => {
  const files = readdirSync(directory).filter((file) => file.endsWith('.yaml'))
  expect((await shippedScenarios()).map(({ name }) => name)).toEqual(files.map((file) => basename(file, '.yaml')))
  expect(files.map((file) => basename(file, '.yaml')).sort()).toEqual([
    'bad-user-signature',
    'dropped-deposit',
    'dropped-withdraw',
    'expired-cursor',
    'flaky-network',
    'idp-token-expiry',
    'outage',
    'rate-limited',
    'reverted-deposit',
    'short-lived-token',
    'slow-confirmation',
    'unknown-fields',
  ])
  for (const file of files) {
    expect(readFileSync(directory + file, 'utf8'), file).toMatch(/^# yaml-language-server: \$schema=\.\/schema\.json\n/)
  }
})

test("the editors' schema equals the one that validates (npm run build:schemas writes it)", () => {
  expect(JSON.parse(readFileSync(`${directory}schema.json`, 'utf8'))).toEqual({
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...JSON.parse(JSON.stringify(EditorSchema)),
  })
})
