import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, partnerAt, testSandbox } from '../helpers/partner.ts'

describe('a URL that is announced after the start', () => {
  let sandbox: SandboxHandle
  let control: ControlClient
  beforeAll(async () => {
    sandbox = await testSandbox()
    control = new ControlClient(sandbox.baseUrl)
  })
  afterAll(() => sandbox.stop())

  test('is the origin of all that is told from then on, and tokens of the address before stay good', async () => {
    const before = new Partner(sandbox)
    expect((await before.get('pools')).status).toBe(200)
    const announced = `http://localhost:${new URL(sandbox.baseUrl).port}`
    expect(await control.announce(`${announced}/`)).toEqual({ public_url: announced })
    const credentials = await control.credentials()
    for (const url of [
      credentials.base_url,
      credentials.auth_url,
      credentials.control_url,
      credentials.rpc_urls['31337'],
    ]) {
      expect(url!.startsWith(announced)).toBe(true)
    }
    const discovery = await fetch(`${announced}/.well-known/openid-configuration`)
    expect(await discovery.json()).toMatchObject({ issuer: announced })
    expect((await before.get('pools')).status).toBe(200)
    expect((await partnerAt(credentials).get('pools')).status).toBe(200)
    const namespace = await control.createNamespace()
    expect(namespace.base_url.startsWith(announced)).toBe(true)
  })

  test.each([
    ['http://localhost:1/path', /must not have a path/],
    ['localhost:4010', /must be an http or https URL/],
    ['http://sandbox.example', /--control-token/],
    ['', /must be an http or https URL/],
  ])('is refused: %s', async (url, said) => {
    const before = await control.credentials()
    await expect(control.announce(url)).rejects.toThrow(said)
    expect(await control.credentials()).toEqual(before)
  })

  test('is refused without the name of its field, and to a web page', async () => {
    const put = (body: string, headers = {}) =>
      fetch(`${sandbox.baseUrl}/_sandbox/public_url`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      })
    expect(await (await put('{"url": "http://localhost:1"}')).json()).toMatchObject({ code: 'validation_error' })
    expect((await put('{"public_url": "http://localhost:1"}', { origin: 'https://evil.example' })).status).toBe(403)
  })
})
