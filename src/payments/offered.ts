/** What a vendor sells at a provider, under the id that a mapping names. */
export type OfferedItem = {
  item: string
  /** Of the product, and of the price or variant if it has one. */
  name: string
  /** Integer minor units; null when the provider does not state one fixed price. */
  unitAmount: number | null
  currency: string | null
  /** Such as `month` or `3 months`; null for a single payment. */
  interval: string | null
}

export type Offered = {
  items: readonly OfferedItem[]
  /** Whether the provider has more than it returns in one response; those are mapped by id. */
  hasMore: boolean
}

/** A person waits for the list, so that it may take less time than other calls. */
export const offeredWithinMs = 4000

/** Joins the names that there are, without repeating one. */
export const joinedName = (...names: readonly (string | null | undefined)[]): string =>
  [...new Set(names.map((name) => name?.trim()).filter(Boolean))].join(', ')

/** An interval in words: `month`, `3 months`. */
export const intervalWords = (interval: string, count: number): string =>
  count === 1 ? interval : `${count} ${interval}s`
