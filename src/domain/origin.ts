/** Names of the loopback interface in URLs: what reaches the sandbox under one of them reaches it under all. */
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]']

/** Where a sandbox listens. */
export interface Listening {
  scheme: 'http' | 'https'
  /** A name or an address; undefined for loopback. */
  host: string | undefined
  port: number
}

/**
 * Where clients find the sandbox. Every URL it tells (issuers, discovery, credentials, RPC, the description) is made from this.
 * It has one URL, and only on loopback other names for the same: a closed list, so that what a Host header says is never
 * repeated, merely recognized. A path in front of the interface would be part of these URLs.
 */
export class Origin {
  /** What `{base_url}` begins with, and with a base path goes on from: no slash at its end. */
  readonly url: string
  readonly #byHost: ReadonlyMap<string, string>

  private constructor(url: string, others: readonly string[] = []) {
    this.url = url
    this.#byHost = new Map([url, ...others].map((one) => [new URL(one).host, one]))
  }

  /** What `--public-url` names, and nothing else. */
  static public(url: string): Origin {
    return new Origin(url)
  }

  /** The address listened on. On loopback and on every interface, the other names of loopback as well. */
  static listening({ scheme, host = '127.0.0.1', port }: Listening): Origin {
    const url = (name: string) => new URL(`${scheme}://${name}:${port}`).origin
    const everywhere = isEveryInterface(host)
    const name = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
    return new Origin(url(name), everywhere || isLoopback(host) ? LOOPBACK_NAMES.map(url) : [])
  }

  /** The URL a request came under, when its Host header is one of the known names; else the one and only. */
  under(host: string | undefined): string {
    return this.#byHost.get(host?.toLowerCase() ?? '') ?? this.url
  }

  /** @returns true if it is a URL of the sandbox, as browsers write origins. */
  includes(url: string): boolean {
    return this.urls.some((one) => new URL(one).origin === url)
  }

  get urls(): string[] {
    return [...this.#byHost.values()]
  }
}

/** @returns true if the host means every address of a machine, loopback included. A client cannot connect to it. */
export function isEveryInterface(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** @returns true if only this machine can reach the host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
