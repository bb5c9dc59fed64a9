import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { pathTo } from '../../description/path.ts'
import { CommandRefused } from '../../terminal/exit-codes.ts'
import { printToStderr } from '../../terminal/output.ts'
import { type Call, type Client, retryAfterIn } from './client.ts'
import { isPassing } from './errors.ts'
import { countProgress } from './output.ts'

const FedEvent = z.looseObject({ id: z.string(), event: z.string(), license_id: z.string() })
export type FedEvent = z.infer<typeof FedEvent>
const Feed = z.object({
  items: z.array(FedEvent),
  nextCursor: z.string().nullable(),
  cursor: z.string().nullable(),
})

const everyMs = 1000

/** Where to follow the feed from. */
export type FeedStart = {
  /** Undefined: of all licenses. */
  licenseId: string | undefined
  /** Null: from the first event. */
  after: string | null
}

const readFeed = async (client: Client, { licenseId, after }: FeedStart) => {
  const query = { license: licenseId, limit: '100', ...(after !== null && { after }) }
  return Feed.parse((await client.call({ method: 'GET', path: '/v1/events', query })).body)
}

/** The end of the feed of all licenses: what follows has not happened yet. */
export async function endOfFeed(client: Client): Promise<FeedStart> {
  const { cursor } = await readFeed(client, { licenseId: undefined, after: 'end' })
  return { licenseId: undefined, after: cursor }
}

/**
 * The events of a tenant as they happen, until the signal is aborted. While the server cannot be reached it goes on
 * asking, and leaves out nothing.
 */
export async function* followFeed(
  client: Client,
  { licenseId, after: first }: FeedStart,
  signal: AbortSignal,
): AsyncGenerator<FedEvent> {
  let after = first
  while (!signal.aborted) {
    const page = await readFeed(client, { licenseId, after }).catch((error: unknown) => {
      if (!isPassing(error)) throw error
      printToStderr(error.message)
      return undefined
    })
    if (page) {
      yield* page.items
      after = page.cursor
      if (page.nextCursor !== null) continue
    }
    await pause(everyMs, undefined, { signal }).catch(() => undefined)
  }
}

const TestPurchase = z.object({
  testPurchase: z.object({
    status: z.enum(['running', 'succeeded', 'failed']),
    licenseId: z.string().optional(),
  }),
})

/**
 * Waits until a test purchase has its license.
 * @returns undefined when the signal is aborted before
 * @throws CommandRefused when it failed without one
 */
export async function licenseOfPurchase(
  client: Client,
  id: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  while (!signal.aborted) {
    const path = pathTo`/v1/test-purchase/${id}`
    const { body, headers } = await client.call({ method: 'GET', path })
    const { licenseId, status } = TestPurchase.parse(body).testPurchase
    if (licenseId !== undefined) return licenseId
    if (status === 'failed') throw new CommandRefused(`The test purchase ${id} failed, and has no license.`)
    const seconds = retryAfterIn(headers) ?? 1
    await pause(seconds * 1000, undefined, { signal }).catch(() => undefined)
  }
  return undefined
}

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
