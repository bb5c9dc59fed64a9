import { randomUUID } from 'node:crypto'
import { EventStoreDBClient, type JSONEventData, jsonEvent } from '@eventstore/db-client'
import { afterAll } from 'vitest'
import { openTestEventStore } from '../../harness/event-store.ts'

/**
 * The store under test: the embedded one, or a real EventStoreDB if a URL is given. The tests run against both,
 * so they use their own stream names and never assume an empty store.
 */
const isContainer = process.env.KEYLEDGER_TEST_EVENTSTORE === 'container'

/** Whether the store under test is the embedded one, whose process and files may be changed. */
export const isEmbedded = process.env.KEYLEDGER_TEST_EVENTSTORE_URL === undefined && !isContainer

/**
 * Starts the store for a test file and stops it after the last test. Two clients in one process may crash it.
 */
export async function connect(
  address = (url: string): string => url,
): Promise<{ client: EventStoreDBClient; url: string }> {
  const { url, stop } = await openTestEventStore(0)
  const client = EventStoreDBClient.connectionString(address(url))
  afterAll(async () => {
    await client.dispose()
    await stop()
  })
  return { client, url }
}

export function uniqueStream(category = 'test'): string {
  return `${category}-${randomUUID()}`
}

export function numbered(n: number): JSONEventData {
  return jsonEvent({ type: 'Numbered', data: { n }, metadata: { schema: 1 } })
}

export function numberedUpTo(count: number): JSONEventData[] {
  return Array.from({ length: count }, (_, index) => numbered(index))
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}
