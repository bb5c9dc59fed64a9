/**
 * De-duplicates items by key. Concurrent lookups often concern the same token or product, which is then looked up once.
 * @returns for each item, the index of the first item with the same key
 */
export function firstByKey<Item>(items: readonly Item[], keyOf: (item: Item) => string): number[] {
  const first = new Map<string, number>()
  return items.map((item, index) => {
    const key = keyOf(item)
    const firstIndex = first.get(key) ?? index
    first.set(key, firstIndex)
    return firstIndex
  })
}
