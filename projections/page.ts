/** Where a page begins: after the row made at this time with this id, newest first. */
export type PageStart = { createdAt: string; id: string }

export type Keyset = { after: PageStart | undefined; limit: number }

/** A page of rows, and where the next one begins; `next` is undefined on the last page. */
export type PageOf<Row> = { items: Row[]; next: PageStart | undefined }

/** Makes a page out of one row more than was asked for, which tells whether there is a next one. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => PageStart,
): PageOf<Row> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last ? placeOf(last) : undefined }
}
