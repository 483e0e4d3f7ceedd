import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import {
  type Credentials,
  type NamespaceOptions,
  type SandboxHandle,
  type SandboxOptions,
  startSandbox,
} from '../../src/index.ts'
import { eventually } from './eventually.ts'
import { exchange } from './exchange.ts'
import { onDatabase } from './on-database.ts'

/** A response as a test looks at it. */
export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
}

/** One request of a partner; what is left out is what a correct client would send. */
export interface Ask {
  body?: unknown
  /** `null` leaves the header out. */
  headers?: Record<string, string | null>
  /** Whose user token; `null` sends none. Default: the external_id in the path. */
  user?: string | null
  /** Idempotency-Key; `null` sends none. Default: a fresh one for POST. */
  key?: string | null
  /** Gives the request up: the connection is closed. */
  signal?: AbortSignal
}

/** A correct partner's client of one tenant, over real HTTP. */
export class Partner {
  readonly #idpTokens = new Map<string, string>()
  readonly #userTokens = new Map<string, string>()

  constructor(
    readonly sandbox: SandboxHandle,
    readonly tenant = 'acme',
  ) {}

  /** An identity-provider token by the client-credentials grant, cached. */
  async idpToken(): Promise<string> {
    const cached = this.#idpTokens.get(this.tenant)
    if (cached) return cached
    const { access_token } = await this.tokenAnswer()
    this.#idpTokens.set(this.tenant, access_token)
    return access_token
  }

  /** What the token endpoint answers to a good request. */
  async tokenAnswer(): Promise<{ access_token: string; expires_in: number }> {
    const { client_id, client_secret } = this.sandbox.tenants.find(({ slug }) => slug === this.tenant)!
    const { scope } = await this.sandbox.credentials()
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
    const response = await fetch(this.sandbox.authUrl, { method: 'POST', body: form })
    return (await response.json()) as { access_token: string; expires_in: number }
  }

  /** A user token minted with the tenant's registered key, cached. */
  async userToken(externalId: string): Promise<string> {
    const cached =
      this.#userTokens.get(externalId) ?? (await this.sandbox.userToken(externalId, { tenant: this.tenant }))
    this.#userTokens.set(externalId, cached)
    return cached
  }

  /** Sends a request to a path below /v1/partner/. */
  async ask(method: 'GET' | 'POST', path: string, ask: Ask = {}): Promise<Answer> {
    const inPath = /^end_users\/([^/]+)\//.exec(path)?.[1]
    const user = ask.user === undefined ? inPath && decodeURIComponent(inPath) : ask.user
    const key = ask.key === undefined && method === 'POST' ? randomUUID() : ask.key
    const headers: Record<string, string | null> = {
      authorization: `Bearer ${await this.idpToken()}`,
      'x-user-token': user ? await this.userToken(user) : null,
      'idempotency-key': key ?? null,
      'content-type': ask.body === undefined ? null : 'application/json',
      ...ask.headers,
    }
    const sent = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null)
    const given = ask.body === undefined || typeof ask.body === 'string' ? ask.body : JSON.stringify(ask.body)
    const answer = await exchange(`${this.sandbox.baseUrl}/v1/partner/${path}`, {
      method,
      headers: Object.fromEntries(sent),
      ...(ask.signal && { signal: ask.signal }),
      ...(given !== undefined && { body: given }),
    })
    return { status: answer.status, headers: answer.headers, body: answer.text ? JSON.parse(answer.text) : undefined }
  }

  get(path: string, ask?: Ask): Promise<Answer> {
    return this.ask('GET', path, ask)
  }

  post(path: string, body: unknown, ask?: Ask): Promise<Answer> {
    return this.ask('POST', path, { body, ...ask })
  }

  /** The pool of that id, as the pool list shows it. */
  async pool(poolId: string): Promise<Record<string, string>> {
    const { body } = await this.get('pools')
    return body.data.find((pool: { pool_id: string }) => pool.pool_id === poolId)
  }

  /** The body that creates a portfolio on the pool. */
  async portfolioBody(poolId: string, name = 'Rainy day'): Promise<Record<string, string>> {
    const { chain_id, token_address, market_address, protocol } = await this.pool(poolId)
    return {
      name,
      chain_id: chain_id!,
      token_address: token_address!,
      market_address: market_address!,
      protocol: protocol!,
    }
  }

  /** A new end user with a new portfolio; returns the portfolio's id. */
  async open(externalId: string, poolId = 'aave-usdc', name?: string): Promise<string> {
    await this.post('end_users', { external_id: externalId })
    const { body } = await this.post(`end_users/${externalId}/portfolios`, await this.portfolioBody(poolId, name))
    return body.portfolio_id
  }

  /** As {@link open}, again while the chain is late: of a busy machine too much may be asked at once. */
  insistOnOpening(externalId: string, poolId?: string): Promise<string> {
    return eventually(async () => {
      const portfolio = await this.open(externalId, poolId)
      expect(portfolio, `the portfolio of ${externalId}`).toBeDefined()
      return portfolio
    })
  }

  deposit(externalId: string, portfolio_id: string, amount_minor: string, ask?: Ask): Promise<Answer> {
    return this.post(`end_users/${externalId}/deposit`, { portfolio_id, amount_minor }, ask)
  }

  withdraw(externalId: string, portfolio_id: string, amount_minor: string, ask?: Ask): Promise<Answer> {
    return this.post(`end_users/${externalId}/withdraw`, { portfolio_id, amount_minor }, ask)
  }
}

/** A sandbox on free ports with instant confirmation and a fixed seed, unless the options say otherwise. */
export function testSandbox(options: SandboxOptions = {}): Promise<SandboxHandle> {
  return startSandbox(onDatabase({ port: 0, confirmationDelay: 0, seed: 7, ...options }))
}

/** The one sandbox of this process that namespaces are made in. It ends with the process, and its Anvils as well. */
let surrounding: Promise<SandboxHandle> | undefined

/** A sandbox whose address is that of a process that only passes requests on: no client reaches it directly. */
async function throughFront(): Promise<SandboxHandle> {
  const [{ Listener }, { answerForwarded, leadToOwners, openFleetListener }, { Sandbox }, { handleOf }, { loadViem }] =
    await Promise.all([
      import('../../src/http/listener.ts'),
      import('../../src/sandbox/front.ts'),
      import('../../src/sandbox/sandbox.ts'),
      import('../../src/library/handle.ts'),
      import('../../src/library/load-viem.ts'),
    ])
  const front = await Listener.open({ host: '127.0.0.1', port: 0, publicUrl: undefined, tls: undefined })
  const sandbox = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7, publicUrl: front.url })
  await sandbox.ready
  const secret = randomUUID()
  const passed = await openFleetListener({ host: '127.0.0.1', port: 0 })
  await answerForwarded(passed, secret, () => sandbox.server)
  const { hostname, port } = new URL(passed.url)
  const owner = { host: hostname, port: Number(port), secret }
  const { settings } = sandbox.namespace.fixture
  const parts = { certificate: undefined, settings, self: undefined, application: () => undefined }
  await leadToOwners(front, { ...parts, ownerOf: () => owner })
  const stop = async () => {
    await Promise.all([sandbox.stop(), passed.close()])
  }
  const client = new ControlClient(front.url)
  return handleOf(client, { fetch, loadViem, stop, dispose: stop })
}

/**
 * A namespace as {@link testSandbox} starts a sandbox, at a tenth of what that costs: for all but addresses, starts and ends. Whatever has
 * no credentials, as a request below `/_sandbox` or to `/rpc/31337`, reaches the default namespace, which nobody has for himself.
 */
export async function testNamespace(options: NamespaceOptions = {}): Promise<SandboxHandle> {
  surrounding ??= process.env.TEST_THROUGH_FRONT ? throughFront() : testSandbox()
  return (await surrounding).namespaces.create(options)
}

/** The client of a tenant at a sandbox in a process of its own. */
export function partnerAt(credentials: Credentials, tenant = 'acme', ownControl?: ControlClient): Partner {
  const { base_url, auth_url, tenants } = credentials
  const control = ownControl ?? new ControlClient(base_url)
  const handle = {
    baseUrl: base_url,
    authUrl: auth_url,
    tenants,
    credentials: async () => credentials,
    userToken: (user: string) => control.userToken(user, { tenant }),
  }
  return new Partner(handle as unknown as SandboxHandle, tenant)
}
