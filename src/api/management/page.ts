import type { Keyset, PageOf } from '../../../projections/page.ts'
import type { Cursors } from '../../http/cursor.ts'

type Page<View> = { items: View[]; nextCursor: string | null }

/**
 * Answers a list: reads the cursor, which is good for this list alone, and says where the next page begins.
 * @param boundTo the tenant, the list and its filters
 * @param view puts the rows of one page in public terms, in their order
 * @throws Problem 400 for a cursor of anything else
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
