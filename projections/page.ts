/** A page starts after the row with this creation time and id. */
export type PageStart = { createdAt: string; id: string }

export type Order = 'newest' | 'oldest'

/** `order`: newest first unless it says otherwise. */
export type Keyset = { after: PageStart | undefined; limit: number; order?: Order | undefined }

/**
 * The SQL of an order by a column of times and one of ids.
 * @returns `by` for `order by`; `past`: the condition that a row comes after these values
 */
export function orderOf(order: Order | undefined, time: string, id: string) {
  const [direction, comparison] = order === 'oldest' ? ['asc', '>'] : ['desc', '<']
  return {
    by: `${time} ${direction}, ${id} ${direction}`,
    past: (timeValue: string, idValue: string) =>
      `(${time}, ${id}) ${comparison} (${timeValue}::timestamptz, ${idValue})`,
  }
}

/** A page of rows, and the start of the next page; `next` is undefined on the last page. */
export type PageOf<Row> = { items: Row[]; next: PageStart | undefined }

/** @param rows up to `limit + 1` rows; the extra row shows that there is a next page */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  startOf: (row: Row) => PageStart,
): PageOf<Row> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last ? startOf(last) : undefined }
}
