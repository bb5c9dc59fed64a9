// Acknowledged events are stored, and retried ones are stored once, however often the store is killed.
import { setTimeout as delay } from 'node:timers/promises'
import { NO_STREAM } from '@eventstore/db-client'
import { afterAll, describe, expect, test } from 'vitest'
import { clientOf } from '../../../src/ledger/connection/client.ts'
import { temporaryDirectory } from '../temporary.ts'
import { collect, isEmbedded, numberedUpTo, uniqueStream } from './event-store.ts'
import { StoreProcess } from './store-process.ts'

const APPENDERS = 64
const APPENDS_EACH = 40
const KILLS = 5

describe.runIf(isEmbedded)('kill -9 under load', () => {
  let store: StoreProcess | undefined
  afterAll(() => store?.end('SIGKILL'))

  test(`${APPENDERS} appenders that retry lose and duplicate nothing in ${KILLS} kills`, async () => {
    const directory = temporaryDirectory()
    store = new StoreProcess('--directory', directory)
    const { url } = await store.ready()
    const client = clientOf(url)
    let acknowledged = 0

    /** Appends one after the other, each with the same ids until acknowledged. */
    const appendAll = async (): Promise<{ stream: string; ids: string[] }> => {
      const stream = uniqueStream()
      const events = numberedUpTo(APPENDS_EACH * 2)
      for (let start = 0; start < events.length; start += 2) {
        const pair = events.slice(start, start + 2)
        const expectedRevision = start === 0 ? NO_STREAM : BigInt(start - 1)
        while (!(await succeeds(client.appendToStream(stream, pair, { expectedRevision })))) await delay(10)
        acknowledged += 1
      }
      return { stream, ids: events.map(({ id }) => id) }
    }
    const appending = Promise.all(Array.from({ length: APPENDERS }, appendAll))

    for (let kill = 1; kill <= KILLS; kill += 1) {
      const enough = (APPENDERS * APPENDS_EACH * kill) / (KILLS + 1)
      while (acknowledged < enough) await delay(1)
      await store.end('SIGKILL')
      store = new StoreProcess('--directory', directory)
      await store.ready()
    }

    for (const { stream, ids } of await appending) {
      const recorded = await collect(client.readStream(stream))
      expect(recorded.map(({ event }) => event?.id)).toStrictEqual(ids)
    }
    await client.dispose()
    expect(await store.end('SIGTERM')).toBe(0)
  })
})

/** Whether an append was acknowledged. After a broken connection its outcome is unknown. */
async function succeeds(append: Promise<unknown>): Promise<boolean> {
  try {
    await append
    return true
  } catch (error) {
    if (error instanceof Error && 'type' in error && error.type === 'wrong-expected-version') throw error
    return false
  }
}
