import { ControlClient } from '../control/client.ts'
import type { Credentials, NamespaceSummary, NamespaceUsage, NamespaceWish, Usage } from '../control/contract.ts'
import { ControlError } from '../control/control-error.ts'
import { type NamespacesControl, type Reach, RUNNER_HEADER } from '../control/control-parts.ts'
import { responseOf } from '../control/trusting-fetch.ts'
import type { SandboxClock } from '../domain/clock.ts'
import { type ErrorCode, Problem } from '../domain/errors.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import type { LivingProcess, LocatedNamespace, SharedRegistry } from '../domain/ports/namespace-registry.ts'
import { askProcess } from '../fleet/ask-process.ts'
import { ownerAt } from '../fleet/owner.ts'
import { ownerAway } from '../http/front-server.ts'
import { abortController } from '../support/waiting.ts'
import { RequestCounts } from '../traffic/request-counts.ts'
import { clientsOf } from './namespace.ts'
import { isOwnedElsewhere } from './namespace-entry.ts'
import type { Namespaces } from './namespaces.ts'
import type { Surroundings } from './surroundings.ts'
import { countedIn, seconds } from './usage.ts'

/** Milliseconds for which another process is waited for when it is asked for what it has. */
const ASKED_MS = 2_000

/** Dependencies of {@link FleetNamespaces}. */
export interface FleetNamespacesDeps {
  namespaces: Namespaces
  registry: SharedRegistry
  surroundings: Surroundings
  /** The fleet's secret. */
  secret: string
  /** For real time only. */
  clock: SandboxClock
}

/** The namespaces of all processes of a fleet, for the control interface of one. */
export class FleetNamespaces implements NamespacesControl {
  readonly #deps: FleetNamespacesDeps

  constructor(deps: FleetNamespacesDeps) {
    this.#deps = deps
  }

  /** All, the default one first; of a process that does not answer in time, what the database knows of its namespaces. */
  async list({ hereAlone }: Reach): Promise<NamespaceSummary[]> {
    const { namespaces, registry } = this.#deps
    const here = namespaces.list()
    if (hereAlone) return here
    const rows = await registry.locateAll()
    const known = byName(here)
    await this.#ofOthers(rows, async (client) => {
      for (const one of await client.namespaces()) known.set(one.name, known.get(one.name) ?? one)
    })
    return this.#inOrder(rows).map((row) => known.get(row.name) ?? this.#atRest(row))
  }

  /** The figures of this process, and those of the namespaces of all. */
  async usage(own: Usage, { hereAlone }: Reach): Promise<Usage> {
    if (hereAlone) return own
    const { registry, clock } = this.#deps
    const rows = await registry.locateAll()
    const known = byName(own.namespaces)
    await this.#ofOthers(rows, async (client) => {
      for (const one of (await client.usage()).namespaces) known.set(one.name, known.get(one.name) ?? one)
    })
    const all = this.#inOrder(rows).map((row) => known.get(row.name) ?? unused(row, clock.wallNow()))
    const open = all.filter(({ holdings }) => holdings !== null).length
    return { ...own, namespace_count: { ...own.namespace_count, total: all.length, open }, namespaces: all }
  }

  summary(name: string): NamespaceSummary | Promise<NamespaceSummary> {
    return this.#deps.namespaces.summary(name)
  }

  /** Makes a namespace in this process; a copy of another one where that is. */
  async create(wish: NamespaceWish, byOthers: boolean, { hereAlone }: Reach): Promise<Credentials> {
    const { namespaces, registry } = this.#deps
    const owner = wish.from === undefined ? undefined : (await registry.locate(wish.from))?.owner
    if (!owner || owner.id === registry.id) return namespaces.create(wish, byOthers)
    if (hereAlone) throw ownerAway()
    return this.#clientOf(owner, { ...(!byOthers && { [RUNNER_HEADER]: 'fleet' }) })
      .createNamespace(wish)
      .catch(inOwnWords)
  }

  async delete(name: string): Promise<void> {
    await this.#deps.namespaces.delete(name).catch((error: unknown) => {
      throw isOwnedElsewhere(error) ? ownerAway() : error
    })
  }

  /** Asks every other process that has one of these. One that fails is left out. */
  async #ofOthers(rows: readonly LocatedNamespace[], ask: (client: ControlClient) => Promise<void>): Promise<void> {
    const { registry, clock } = this.#deps
    const others = new Map(rows.flatMap(({ owner }) => (owner && owner.id !== registry.id ? [[owner.id, owner]] : [])))
    const late = abortController()
    const over = abortController()
    void clock.wallSleep(ASKED_MS, over.signal).then(() => late.abort())
    await Promise.allSettled([...others.values()].map((owner) => ask(this.#clientOf(owner, {}, late.signal))))
    over.abort()
  }

  #clientOf(process: LivingProcess, headers: Record<string, string>, signal?: AbortSignal): ControlClient {
    const { surroundings, secret } = this.#deps
    const { origin, options } = surroundings
    const owner = ownerAt(process.address, secret)
    const fetchThere: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      const { pathname, search, host } = new URL(request.url)
      const answer = await askProcess(owner, {
        method: request.method,
        path: `${pathname}${search}`,
        headers: { host, ...Object.fromEntries(request.headers), ...headers },
        body: Buffer.from(await request.arrayBuffer()),
        signal: signal ?? request.signal,
      })
      return responseOf(answer.status, answer.headers, answer.body)
    }
    return new ControlClient(origin.url, { controlToken: options.controlToken, fetch: fetchThere })
  }

  /** The default namespace first, which need not be stored. */
  #inOrder(rows: readonly LocatedNamespace[]): Pick<LocatedNamespace, 'name' | 'kept'>[] {
    return [{ name: DEFAULT_NAMESPACE, kept: null }, ...rows.filter(({ name }) => name !== DEFAULT_NAMESPACE)]
  }

  /** Summary of one that is open nowhere. */
  #atRest({ name, kept }: Pick<LocatedNamespace, 'name' | 'kept'>): NamespaceSummary {
    const { base } = this.#deps.namespaces
    const clients = kept?.clients ?? clientsOf(base.fixture)
    return {
      name,
      seed: kept?.seed ?? base.seed,
      ...(kept && { created_at: kept.created_at }),
      ready: true,
      tenants: Object.values(clients).map(({ slug }) => slug),
      requests: 0,
      last_request_at: null,
      failed_findings: null,
    }
  }
}

function byName<One extends { name: string }>(all: readonly One[]): Map<string, One> {
  return new Map(all.map((one) => [one.name, one]))
}

function unused({ name, kept }: Pick<LocatedNamespace, 'name' | 'kept'>, now: number): NamespaceUsage {
  return {
    name,
    ...(kept && { created_at: kept.created_at, age_seconds: seconds(now - Date.parse(kept.created_at)) }),
    requests: countedIn(new RequestCounts()),
    last_request_at: null,
    anvils: 0,
    holdings: null,
  }
}

/** The refusal of another process as one of this. Throws Problem. */
function inOwnWords(error: unknown): never {
  if (!(error instanceof ControlError) || error.status === undefined) throw ownerAway()
  const [first] = error.errors
  const param = first && { param: first.param }
  throw new Problem(error.code as ErrorCode, {
    detail: first?.detail ?? error.message,
    ...param,
    errors: [...error.errors],
  })
}
