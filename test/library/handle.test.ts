import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  ControlError,
  connectSandbox,
  OptionError,
  RefusedError,
  type SandboxHandle,
  startSandbox,
} from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

let started: SandboxHandle
let connected: SandboxHandle

beforeAll(async () => {
  started = await testSandbox()
  connected = await connectSandbox({ url: started.baseUrl })
})
afterAll(() => started.stop())
afterEach(() => started.reset())

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
const headerOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())

const HANDLES: [string, () => SandboxHandle][] = [
  ['of a sandbox started here', () => started],
  ['of one connected to', () => connected],
]

describe.each(HANDLES)('the handle %s', (_name, handle) => {
  test('says where everything is', async () => {
    const sandbox = handle()
    const { base_url, auth_url, control_url, seed, tenants } = await sandbox.credentials()
    expect(sandbox).toMatchObject({ baseUrl: base_url, authUrl: auth_url, controlUrl: control_url, seed, tenants })
    expect(tenants.map(({ slug }) => slug)).toEqual(['acme', 'globex', 'restricted'])
    expect(await sandbox.chain.getChainId()).toBe(31337)
    expect(Object.keys(sandbox.chains)).toEqual(['31337'])
  })

  test('moves the clock by a duration, by milliseconds and to a moment', async () => {
    const { clock } = handle()
    expect((await clock.freeze()).frozen).toBe(true)
    const before = await clock.now()
    expect(new Date(before).toISOString()).toBe(await clock.iso())
    await clock.advance('8d')
    await clock.advance(1500)
    expect(await clock.now()).toBe(before + 8 * 24 * 60 * 60 * 1000 + 1500)
    await clock.set('2060-01-01T00:00:00Z')
    expect(await clock.iso()).toBe('2060-01-01T00:00:00.000Z')
    expect(await clock.set(new Date('2061-01-01T00:00:00Z'))).toMatchObject({ now: '2061-01-01T00:00:00.000Z' })
    expect((await clock.unfreeze()).frozen).toBe(false)
  })

  test('adds, lists, removes and clears faults', async () => {
    const sandbox = handle()
    const match = { operation: 'list_pools' } as const
    const [first, second] = await sandbox.faults.add({ kind: 'stuck' }, { kind: 'error', with: { status: 503 }, match })
    expect(await sandbox.faults.list()).toEqual([first, second])
    await sandbox.faults.remove(first!.id)
    expect(await sandbox.faults.list()).toEqual([second])
    expect((await new Partner(sandbox).get('pools')).status).toBe(503)
    expect(await sandbox.faults.list()).toMatchObject([{ id: second!.id, hits: 1 }])
    await sandbox.faults.clear()
    expect(await sandbox.faults.list()).toEqual([])
  })

  test('mints good tokens, and spoilt ones', async () => {
    const sandbox = handle()
    const acme = new Partner(sandbox)
    const answer = async (user: string, idp?: string) => {
      const headers = { 'x-user-token': user, ...(idp && { authorization: `Bearer ${idp}` }) }
      const { status, body } = await acme.get('end_users/alice/portfolios', { headers })
      return [status, body.code]
    }
    const good = await sandbox.userToken('alice')
    expect(await answer(good, await sandbox.idpToken())).toEqual([200, undefined])
    const spoilt = await Promise.all([
      sandbox.userToken('alice', { expiresIn: -60 }),
      sandbox.userToken('alice', { key: 'unknown' }),
      sandbox.userToken('alice', { claims: { aud: 'other' } }),
      sandbox.userToken('alice', { header: { typ: 'other' } }),
      sandbox.userToken('alice', { tenant: 'globex' }),
    ])
    for (const token of spoilt) expect(await answer(token)).toEqual([401, 'invalid_user_token'])
    for (const wish of [{ expiresIn: -60 }, { key: 'unknown' as const }, { claims: { aud: 'other' } }]) {
      expect(await answer(good, await sandbox.idpToken(wish))).toEqual([401, 'invalid_idp_token'])
    }
    expect(headerOf(await sandbox.userToken('alice', { header: { kid: 'other' } }))).toMatchObject({ kid: 'other' })
    expect(claimsOf(await sandbox.idpToken({ tenant: 'globex', claims: { a: 1 } }))).toMatchObject({ a: 1 })
  })

  test('starts and stops scenarios', async () => {
    const { scenarios } = handle()
    const { scenarios: shipped, current } = await scenarios.list()
    expect([shipped.length > 0, current]).toEqual([true, null])
    expect(await scenarios.start({ name: 'own', description: 'Mine.', faults: [{ kind: 'stuck' }] })).toMatchObject({
      name: 'own',
    })
    expect(await scenarios.stop()).toMatchObject({ name: 'own' })
    expect(await scenarios.stop()).toBeNull()
  })

  test('audits and resets', async () => {
    const sandbox = handle()
    const acme = new Partner(sandbox)
    await acme.deposit('carol', await acme.open('carol'), '1000000')
    expect(await sandbox.audit()).toMatchObject({ ok: true })
    await sandbox.reset()
    expect((await acme.get('end_users/carol/portfolios')).status).toBe(404)
  })

  test('refuses what is wrong, with a code and what to do', async () => {
    const { clock, faults, userToken } = handle()
    await expect(faults.add({ kind: 'strck' as 'stuck' })).rejects.toMatchObject({
      name: 'RefusedError',
      code: 'validation_error',
      status: 400,
      errors: [{ param: 'kind' }],
      message: expect.stringContaining('did you mean "stuck"?'),
    })
    await expect(faults.remove('fault-99')).rejects.toMatchObject({ code: 'fault_not_found', status: 404 })
    await expect(clock.advance(-1)).rejects.toThrow(RefusedError)
    await expect(clock.set('2001-01-01')).rejects.toThrow('The clock only moves forward')
    for (const none of [new Date('x'), 1e12 as unknown as Date]) {
      await expect(clock.set(none)).rejects.toMatchObject({ code: 'validation_error' })
    }
    await expect(userToken('alice', { tenant: 'acne' })).rejects.toMatchObject({
      code: 'tenant_not_found',
      message: 'there is no tenant "acne"; did you mean "acme"?',
    })
    const misspelt = { expires_in: 5 } as object
    await expect(userToken('alice', misspelt)).rejects.toThrow(
      new OptionError('"expires_in" is not an option of a token; did you mean "expiresIn"?'),
    )
  })
})

describe('starting', () => {
  test.each([
    [{ confirmationDelai: 0 }, '"confirmationDelai" is not an option of a sandbox; did you mean "confirmationDelay"?'],
    [{ 'control-token': 'x' }, '"control-token" is not an option of a sandbox; did you mean "controlToken"?'],
    [
      { logger: { info: () => undefined } },
      "logger must be of pino's shape; it lacks fatal, error, warn, debug, trace",
    ],
    [{ logger: false }, "logger must be of pino's shape; got false. Leave it out for none"],
    [{ port: '4010' }, 'port must be a whole number from 0 to 65535, or auto; got "4010"; write it like 4010'],
    [
      { maxNodes: 0, clock: 'now' },
      'maxNodes must be a whole number of at least 1; got the number 0\nclock must be an ISO 8601 moment from 2025-01-02 on; got "now"; write it like 2030-01-01T00:00:00Z',
    ],
    [{ confirmationDelay: -1 }, 'confirmationDelay must be milliseconds from 0; got the number -1'],
    [{ recordBytes: 'much' }, 'recordBytes "much" is not a size; write 0, 65536, 512KiB, 64MiB or 1GB'],
    [{ forkUrl: 'secret' }, 'forkUrl must be an http or https URL; write it like https://mainnet.base.org'],
    [
      { controlToken: '' },
      'controlToken must not be empty; leave it out for one that is made, or for none on loopback',
    ],
  ])('%o is refused', async (options, message) => {
    await expect(startSandbox(options as object)).rejects.toMatchObject({
      name: 'OptionError',
      code: 'invalid_option',
      message,
    })
  })

  test('a fixture file that cannot be used has a code, too', async () => {
    await expect(startSandbox({ fixtures: '/nowhere.yaml' })).rejects.toMatchObject({ code: 'invalid_fixture' })
  })
})

describe('connecting', () => {
  test('needs a sandbox that answers, and its options by their names', async () => {
    await expect(connectSandbox({ url: '127.0.0.1:9' })).rejects.toMatchObject({ code: 'sandbox_unreachable' })
    await expect(connectSandbox({ url: 'ftp://here' })).rejects.toMatchObject({ code: 'invalid_url' })
    const unset = { url: process.env.NO_SUCH_NAME } as { url: string }
    await expect(connectSandbox(unset)).rejects.toThrow(
      'url must be that of a sandbox, such as localhost:4010; got undefined',
    )
    const misspelt = { url: started.baseUrl, token: 'x' }
    await expect(connectSandbox(misspelt)).rejects.toThrow(OptionError)
  })

  test('needs the control token where there is one', async () => {
    await using guarded = await testSandbox({ controlToken: 'secret' })
    await expect(connectSandbox({ url: guarded.baseUrl })).rejects.toMatchObject({ code: 'control_token_required' })
    const { clock } = await connectSandbox({ url: guarded.baseUrl, controlToken: 'secret' })
    expect(await clock.iso()).toMatch(/Z$/)
    expect(await guarded.clock.iso()).toMatch(/Z$/)
  })

  test('gives addresses as they are from here, where another port leads to the sandbox', async () => {
    const { hostname, port } = new URL(started.baseUrl)
    const sockets: Socket[] = []
    const mapped = createServer((socket) => {
      sockets.push(socket)
      const inner = connect(Number(port), hostname)
      socket.on('error', () => inner.destroy())
      inner.on('error', () => socket.destroy())
      socket.pipe(inner).pipe(socket)
    })
    await new Promise<void>((resolve) => mapped.listen(0, '127.0.0.1', resolve))
    const outside = `http://127.0.0.1:${(mapped.address() as AddressInfo).port}`
    const sandbox = await connectSandbox({ url: outside })
    expect(sandbox).toMatchObject({ baseUrl: outside, authUrl: `${outside}/oauth2/token` })
    const { rpc_urls, base_url } = await sandbox.credentials()
    expect([base_url, Object.values(rpc_urls)[0]]).toEqual([outside, `${outside}/rpc/31337`])
    expect(await sandbox.chain.getChainId()).toBe(31337)
    await using own = await sandbox.namespaces.create()
    expect(own.baseUrl).toBe(outside)
    expect(await own.chain.getChainId()).toBe(31337)
    await own.stop()
    mapped.close()
    for (const socket of sockets) socket.destroy()
  })

  test('leaves the sandbox running at the end of a block; stop ends it', async () => {
    const own = await testSandbox()
    {
      await using other = await connectSandbox({ url: own.baseUrl })
      await other.clock.freeze()
    }
    expect(await own.clock.state()).toMatchObject({ frozen: true })
    const other = await connectSandbox({ url: own.baseUrl })
    await other.stop()
    for (const { clock } of [own, other]) {
      const error = await clock.now().catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(ControlError)
      expect(error).toMatchObject({ code: 'sandbox_unreachable' })
    }
    await own.stop()
  })
})
