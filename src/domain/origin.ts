/** Names of the loopback interface in URLs: a sandbox that listens on one of them is reachable under all. */
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]']

/** Address that a sandbox listens on. */
export interface Listening {
  scheme: 'http' | 'https'
  /** A name or an address; undefined for loopback. */
  host: string | undefined
  port: number
}

/**
 * Address at which clients find the sandbox. All URLs that it publishes (issuers, discovery, credentials, RPC, the description) are
 * made from this. It has one URL and, on loopback or after another was announced, other names for the same: a closed list, so that a Host header is
 * recognized but never repeated. A path in front of the interface would be part of these URLs.
 */
export class Origin {
  #url: string
  readonly #byHost: Map<string, string>

  private constructor(url: string, others: readonly string[] = []) {
    this.#url = url
    this.#byHost = new Map([url, ...others].map((one) => [new URL(one).host, one]))
  }

  /** First part of `{base_url}`, which a base path may follow; without a slash at the end. */
  get url(): string {
    return this.#url
  }

  /**
   * Makes a URL that became known after the start, such as that of a mapped port, the first part of all URLs from now on. Earlier names
   * stay: tokens that were issued under one of them remain good.
   */
  announce(url: string): void {
    this.#url = url
    this.addName(url)
  }

  /** Makes a URL another name of the sandbox; what it publishes of itself stays as it is. */
  addName(url: string): void {
    this.#byHost.set(new URL(url).host, url)
  }

  /** The origin that `--public-url` names; it has no other name. */
  static public(url: string): Origin {
    return new Origin(url)
  }

  /** The origin of a listening address. On loopback and on every interface it has the other names of loopback too. */
  static listening({ scheme, host = '127.0.0.1', port }: Listening): Origin {
    const url = (name: string) => new URL(`${scheme}://${name}:${port}`).origin
    const everywhere = isEveryInterface(host)
    const name = everywhere ? '127.0.0.1' : inUrl(host)
    return new Origin(url(name), everywhere || isLoopback(host) ? LOOPBACK_NAMES.map(url) : [])
  }

  /** The URL that a request came under, if its Host header is a known name; otherwise {@link Origin.url}. */
  under(host: string | undefined): string {
    return this.#byHost.get(host?.toLowerCase() ?? '') ?? this.url
  }

  /** @returns true if it is a URL of the sandbox, in the form that browsers give an `Origin` header */
  includes(url: string): boolean {
    return this.urls.some((one) => new URL(one).origin === url)
  }

  get urls(): string[] {
    return [...this.#byHost.values()]
  }
}

/** @returns true if the host means all addresses of a machine, loopback included; a client cannot connect to it */
export function isEveryInterface(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** @returns true if only this machine can reach the host */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** A host as a URL has it: an address of IPv6 in brackets. */
export function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** The host of a URL, as sockets take it: without brackets. */
export function hostIn({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}
