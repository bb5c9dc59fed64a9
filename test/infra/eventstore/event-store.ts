import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventStoreDBClient, type JSONEventData, jsonEvent } from '@eventstore/db-client'
import { afterAll } from 'vitest'
import { startEventStore } from '../../../infra/local/eventstore/server.ts'

/**
 * The store under test: the embedded one, or a real EventStoreDB if an address is given. Both are put to the
 * same tests, so these use stream names of their own and never assume an empty store.
 */
const external = process.env.KEYLEDGER_TEST_EVENTSTORE_URL

/** Whether the store under test is the one of this repository, whose process and files may be touched. */
export const isEmbedded = external === undefined

/** Starts the store for a test file and stops it after the last test. Two clients a process may crash it. */
export async function connect(
  address = (url: string): string => url,
): Promise<{ client: EventStoreDBClient; url: string }> {
  if (external !== undefined) {
    const client = EventStoreDBClient.connectionString(address(external))
    afterAll(() => client.dispose())
    return { client, url: external }
  }
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const store = await startEventStore({ directory })
  const client = EventStoreDBClient.connectionString(address(store.url))
  afterAll(async () => {
    await client.dispose()
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return { client, url: store.url }
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
