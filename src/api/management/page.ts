import type { Keyset, PageOf } from '../../../projections/page.ts'
import type { Cursors } from '../../http/cursor.ts'

type Page<View> = { items: View[]; nextCursor: string | null }

/**
 * Answers a list request: reads the cursor, which is valid only for this list, and returns the cursor of the next
 * page.
 * @param boundTo the tenant, the list and its filters
 * @param view converts the rows of one page to their public form, in order
 * @throws Problem 400 for a cursor of another list
 */
export async function answerPage<Row, View>(
  cursors: Cursors,
  boundTo: readonly unknown[],
  { cursor, limit }: { cursor?: string | undefined; limit: number },
  load: (keyset: Keyset) => Promise<PageOf<Row>>,
  view: (rows: Row[]) => View[] | Promise<View[]>,
): Promise<Page<View>> {
  const { items, next } = await load({ after: cursors.read(boundTo, cursor), limit })
  return { items: await view(items), nextCursor: cursors.write(boundTo, next) }
}
