import { z } from 'zod'
import type { Call, Client } from './client.ts'
import { countProgress } from './progress.ts'

const Page = z.looseObject({ items: z.array(z.unknown()), nextCursor: z.string().nullable() })

/** The largest page that the server gives. */
const pageSize = '100'

/** Reads a list to its end, as one page. */
export async function readPages(client: Client, call: Call): Promise<z.infer<typeof Page>> {
  const items: unknown[] = []
  const progress = countProgress('Reading', 'items')
  for (let cursor = call.query?.cursor; ; ) {
    const query = { limit: pageSize, ...call.query, ...(cursor !== undefined && { cursor }) }
    const { items: more, nextCursor, ...rest } = Page.parse((await client.call({ ...call, query })).body)
    items.push(...more)
    progress.update(items.length)
    if (nextCursor === null) {
      progress.done(items.length)
      return { ...rest, items, nextCursor: null }
    }
    cursor = nextCursor
  }
}
