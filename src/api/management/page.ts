import type { Keyset, Order, PageOf } from '../../../projections/page.ts'
import type { Cursors } from '../../http/cursor.ts'

type Page<View> = { items: View[]; nextCursor: string | null }

/** The parameters of a list request that say which page is asked for. */
export type PageQuery = { cursor?: string | undefined; limit: number; order: Order }

/**
 * Answers a list request: reads the cursor, which is valid only for this list, and returns the cursor of the next
 * page.
 * @param boundTo the tenant, the list and its filters; the order is added
 * @param view converts the rows of one page to their public form, in order
 * @throws Problem 400 for a cursor of another list
 */
export async function answerPage<Row, View>(
  cursors: Cursors,
  boundTo: readonly unknown[],
  { cursor, limit, order }: PageQuery,
  load: (keyset: Keyset) => Promise<PageOf<Row>>,
  view: (rows: Row[]) => View[] | Promise<View[]>,
): Promise<Page<View>> {
  // Cursors that were handed out before lists had an order stay valid.
  const list = order === 'newest' ? boundTo : [...boundTo, order]
  const { items, next } = await load({ after: cursors.read(list, cursor), limit, order })
  return { items: await view(items), nextCursor: cursors.write(list, next) }
}
