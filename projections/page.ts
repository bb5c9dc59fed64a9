/** A page starts after the row with this creation time and id, newest first. */
export type PageStart = { createdAt: string; id: string }

export type Keyset = { after: PageStart | undefined; limit: number }

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
