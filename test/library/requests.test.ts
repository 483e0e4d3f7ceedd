import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectSandbox, OptionError, RefusedError, type SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { harObjections } from '../traffic/har-validator.ts'

let started: SandboxHandle
let connected: SandboxHandle

beforeAll(async () => {
  started = await testNamespace()
  connected = await connectSandbox({ url: started.baseUrl })
})
afterAll(() => started.stop())

const HANDLES: [string, () => SandboxHandle][] = [
  ['of a sandbox started here', () => started],
  ['of one connected to', () => connected],
]

describe.each(HANDLES)('requests of the handle %s', (_name, handle) => {
  test('are listed, filtered, explained, archived and forgotten', async () => {
    const { requests } = handle()
    await requests.clear()
    const acme = new Partner(handle())
    await acme.idpToken()
    const answer = await acme.get('pools')
    const refused = await acme.get('end_users/alice/portfolios', { user: null })
    const { data, has_more } = await requests.list({ status: '4xx', external_id: 'alice' })
    expect([data.map(({ request_id }) => request_id), has_more]).toEqual([[refused.body.request_id], false])
    expect((await requests.list({ status: 200, operation: 'list_pools' })).data[0]!.request_id).toBe(
      answer.headers.get('x-service-request-id'),
    )
    const { connection } = data[0]!
    expect((await requests.list({ connection, limit: 100 })).data.length).toBeGreaterThan(0)
    const { next_cursor } = await requests.list({ limit: 1 })
    expect((await requests.list({ limit: 1, starting_after: next_cursor! })).data).toHaveLength(1)
    expect((await requests.get(refused.body.request_id)).explanation.at(-1)).toMatch(/^Send the header X-User-Token/)
    const har = await requests.har({ operation: 'list_pools' })
    expect([harObjections(har), har.log.entries.length]).toEqual(['', 1])
    await requests.clear()
    expect((await requests.list()).data).toEqual([])
  })

  test('what is wrong is refused, with a code and what to do', async () => {
    const { requests } = handle()
    await expect(requests.get('req_none')).rejects.toMatchObject({
      name: 'RefusedError',
      code: 'request_not_found',
      status: 404,
    })
    await expect(requests.list({ limit: 0 })).rejects.toThrow(RefusedError)
    await expect(requests.list({ starting_after: 'x' })).rejects.toMatchObject({ code: 'cursor_invalid' })
    await expect(requests.list({ externalId: 'alice' } as object)).rejects.toThrow(OptionError)
    await expect(requests.har({ limit: 3 } as object)).rejects.toThrow(/"limit" is not an option of requests.har/)
  })
})
