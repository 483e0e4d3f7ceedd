import { NamespaceFolders } from '../data-dir/namespace-folders.ts'
import type { NamespaceRegistry } from '../domain/ports/namespace-registry.ts'
import type { SandboxOptions } from '../options.ts'

/** Where the namespaces of a sandbox are kept, by its options; undefined if they end with the process. */
export async function openRegistry({ dataDir }: SandboxOptions): Promise<NamespaceRegistry | undefined> {
  return dataDir === undefined ? undefined : new NamespaceFolders(dataDir)
}
