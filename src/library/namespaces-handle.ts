import type { ControlClient } from '../control/client.ts'
import type { Credentials, NamespaceSummary } from '../control/contract.ts'
import { refuseUnknownNames } from '../option-error.ts'

/** Options of a new namespace. Defaults are those of the namespace that it copies. */
export interface NamespaceOptions {
  /** A DNS label: `pull-request-7`. Default: a generated name. */
  name?: string
  /** As in a fixture file; sections left out are those of the sandbox's own fixture. */
  fixtures?: Record<string, unknown>
  /** Seed of every random choice. */
  seed?: number
  /** ISO 8601 moment at which its clock starts, frozen. */
  clock?: string
  /** `0`, `2s`, `5s-30s`, `realistic`, or milliseconds. */
  confirmationDelay?: string | number
  /** The namespace to copy in its present state. Default: `default` in its state after seeding. */
  from?: string
}

/** Isolated copies of everything behind the API, each with credentials, chains and a clock of its own. */
export interface NamespacesHandle<Handle> {
  /**
   * Creates a namespace and returns a handle of the same kind, whose `stop()`, and the end of an `await using` block, delete it.
   * @example
   * await using mine = await sandbox.namespaces.create({ clock: '2030-01-01T00:00:00Z' })
   * await mine.clock.advance('30d')
   * @example
   * await using retry = await sandbox.namespaces.create({ from: mine.namespace })
   */
  create(options?: NamespaceOptions): Promise<Handle>
  /** Every namespace, the default one first. */
  list(): Promise<NamespaceSummary[]>
  /** Deletes a namespace; requests that it holds are answered 503. */
  delete(name: string): Promise<void>
}

/** The namespaces of the sandbox behind a client; `open` makes a handle of one. */
export function namespacesOf<Handle>(
  client: ControlClient,
  open: (client: ControlClient, credentials: Credentials, end: () => Promise<void>) => Promise<Handle>,
): NamespacesHandle<Handle> {
  return {
    async create(options = {}) {
      const known = { name: true, fixtures: true, seed: true, clock: true, confirmationDelay: true, from: true }
      refuseUnknownNames(options, known, 'a namespace')
      const { confirmationDelay, ...rest } = options
      const wish = { ...rest, ...(confirmationDelay !== undefined && { confirmation_delay: confirmationDelay }) }
      const credentials = await client.createNamespace(wish)
      const { namespace } = credentials
      let ending: Promise<void> | undefined
      const end = () => {
        ending ??= client.deleteNamespace(namespace)
        return ending
      }
      return open(client.in(namespace), credentials, end)
    },
    list: () => client.namespaces(),
    delete: (name) => client.deleteNamespace(name),
  }
}
