/** Items in groups of one name, each group in the order given, as Map.groupBy of newer Nodes; what `nameOf` names undefined is left out. */
export function grouped<Item, Name>(
  items: Iterable<Item>,
  nameOf: (item: Item) => Name | undefined,
): Map<Name, Item[]> {
  const groups = new Map<Name, Item[]>()
  for (const item of items) {
    const name = nameOf(item)
    if (name === undefined) continue
    const group = groups.get(name)
    if (group) group.push(item)
    else groups.set(name, [item])
  }
  return groups
}
