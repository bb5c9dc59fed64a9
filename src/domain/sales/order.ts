type Order = readonly (string | number | boolean | null)[]

/** Below zero if the first comes before the other; null comes before everything. */
export function compare(one: Order, other: Order): number {
  const index = one.findIndex((value, place) => value !== other[place])
  if (index < 0) return 0
  const [left, right] = [one[index] ?? null, other[index] ?? null]
  if (left === null || right === null) return left === null ? -1 : 1
  return left < right ? -1 : 1
}

/**
 * The greater of two by an order, so that the same one of two contradicting values wins in either order of
 * arrival.
 */
export const greater = <T>(one: T, other: T, order: (value: T) => Order): T =>
  compare(order(one), order(other)) >= 0 ? one : other

/** The latest of the known moments. */
export function latest(moments: readonly (string | null)[]): string | null {
  return moments.reduce((one, other) => (one === null || (other !== null && other > one) ? other : one), null)
}

/** The list with one entry added or merged, sorted by id, so that the order of arrival has no effect. */
export function merged<Id extends string, Known extends Record<Id, string>>(
  known: readonly Known[],
  reported: Known,
  id: Id,
  merge: (before: Known) => Known,
): readonly Known[] {
  const before = known.find((entry) => entry[id] === reported[id])
  const others = known.filter((entry) => entry !== before)
  return [...others, before ? merge(before) : reported].sort((a, b) => (a[id] < b[id] ? -1 : 1))
}

/** A known name of a payment wins over none. */
export const nameOf = (one: { payment: string | null }, other: { payment: string | null }): string | null =>
  greater(one, other, ({ payment }) => [payment]).payment

/**
 * The larger amount wins. For equal amounts the currency decides, so that the order of arrival does not
 * matter.
 */
export const larger = <Money extends { amount: number | null; currency: string | null }>(
  one: Money,
  other: Money,
): Money => greater(one, other, ({ amount, currency }) => [amount, currency])

export const earlier = (one: string, other: string): string => (one < other ? one : other)
