import { expect, test } from 'vitest'
import { runHere } from './in-process.ts'

test('openapi prints the same document each time, whatever port and seed others have', async () => {
  const first = await runHere(['openapi'])
  const second = await runHere(['openapi'], { YIELD_SANDBOX_PORT: '0', YIELD_SANDBOX_SEED: '8' })
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(second.stdout).toBe(first.stdout)
  expect(JSON.parse(first.stdout).servers).toEqual([expect.objectContaining({ url: 'http://127.0.0.1:4010' })])
})

test('openapi --service prints the service alone, of a sandbox that was started without options', async () => {
  const { code, stdout, stderr } = await runHere(['openapi', '--service'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { paths, servers, components } = JSON.parse(stdout)
  expect(Object.keys(paths)).toHaveLength(6)
  expect(servers).toEqual([expect.objectContaining({ url: 'http://127.0.0.1:4010' })])
  expect(components.securitySchemes.client_credentials.flows.clientCredentials.tokenUrl).toBe(
    'http://127.0.0.1:4010/oauth2/token',
  )
})
