import { type Alias, type Document, isAlias, isCollection, isNode, isPair, type Node } from 'yaml'

/** Anchors and aliases together: each alias is looked up among all of them. */
const MAX_NAMES = 1000
/** Values that aliases may add to those that are written in the file. */
const MAX_VALUES = 100_000

/** An alias that cannot be used; the message goes on from "the file". */
export class AliasError extends Error {
  override readonly name = 'AliasError'

  constructor(
    /** Where in the text it is, or an anchor too many. */
    readonly offset: number,
    message: string,
    readonly fix: string,
  ) {
    super(message)
  }
}

/**
 * What each alias of a document stands for, in time proportional to what is written there. The yaml package checks them while
 * it expands them, each by a walk through the whole document. Throws {@link AliasError}.
 */
export function resolveAliases(document: Document): ReadonlyMap<Alias, Node> {
  const resolver = new AliasResolver()
  resolver.count(document.contents)
  return resolver.targets
}

interface Anchored {
  node: Node
  /** Values in it, those of aliases included; undefined while they are counted. */
  values?: number
}

class AliasResolver {
  readonly targets = new Map<Alias, Node>()
  readonly #anchors = new Map<string, Anchored>()
  #names = 0
  #added = 0

  /** How many values a node stands for. */
  count(node: unknown): number {
    if (isAlias(node)) return this.#countAlias(node)
    if (isPair(node)) return this.count(node.key) + this.count(node.value)
    if (!isNode(node)) return 0
    const anchored: Anchored = { node }
    if ('anchor' in node && node.anchor !== undefined) {
      this.#countName(node)
      this.#anchors.set(node.anchor, anchored)
    }
    const items: unknown[] = isCollection(node) ? node.items : []
    anchored.values = items.reduce<number>((sum, item) => sum + this.count(item), 1)
    return anchored.values
  }

  #countAlias(alias: Alias): number {
    this.#countName(alias)
    const target = this.#anchors.get(alias.source)
    if (!target) {
      throw failure(alias, 'has an alias (*name) of no anchor before it', 'put the anchor (&name) at an earlier value')
    }
    if (target.values === undefined) {
      throw failure(alias, 'has an alias (*name) within the value it stands for', 'write out what it is to stand for')
    }
    this.#added += target.values
    if (this.#added > MAX_VALUES) {
      throw failure(alias, `has aliases (*name) that stand for over ${MAX_VALUES} values`, 'write out fewer values')
    }
    this.targets.set(alias, target.node)
    return target.values
  }

  #countName(node: Node): void {
    this.#names += 1
    if (this.#names <= MAX_NAMES) return
    throw failure(node, `has over ${MAX_NAMES} anchors (&name) and aliases (*name)`, 'write out what they stand for')
  }
}

function failure(node: Node, message: string, fix: string): AliasError {
  return new AliasError(node.range?.[0] ?? 0, message, fix)
}
