// A store that lost acknowledged events does not start, and says what to do. After a kill or a power cut it
// always starts.
import { copyFileSync, cpSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BACKWARDS, END, NO_STREAM } from '@eventstore/db-client'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { openEventStore } from '../../../infra/local/eventstore/engine/event-store.ts'
import { findDamage } from '../../../infra/local/eventstore/storage/write-ahead-log.ts'
import { clientOf } from '../../../src/ledger/connection/client.ts'
import { temporaryDirectory } from '../temporary.ts'
import { isEmbedded, numbered } from './event-store.ts'
import { StoreProcess } from './store-process.ts'

const APPENDS = 12
const headerBytes = 32
const frameBytes = 24 + 4096

describe.runIf(isEmbedded)('a store that was killed', () => {
  const started: StoreProcess[] = []
  const start = (directory: string): StoreProcess => {
    const store = new StoreProcess('--directory', directory)
    started.push(store)
    return store
  }
  afterEach(async () => {
    await Promise.all(started.splice(0).map((store) => store.end('SIGKILL')))
  })

  /**
   * A directory whose last appends are only in the write-ahead log; `beforeLast` is called before the last one.
   */
  async function killed(beforeLast = (_directory: string): void => undefined): Promise<string> {
    const directory = temporaryDirectory()
    const store = start(directory)
    const client = clientOf((await store.ready()).url)
    for (let n = 0; n < APPENDS; n += 1) {
      if (n === APPENDS - 1) beforeLast(directory)
      await client.appendToStream('test-1', numbered(n), {
        expectedRevision: n === 0 ? NO_STREAM : BigInt(n - 1),
      })
    }
    await store.end('SIGKILL')
    await client.dispose()
    return directory
  }

  async function lastNumber(directory: string): Promise<unknown> {
    const store = start(directory)
    const client = clientOf((await store.ready()).url)
    try {
      const read = client.readStream('test-1', { direction: BACKWARDS, fromRevision: END, maxCount: 1 })
      for await (const { event } of read) return event?.data
      return undefined
    } finally {
      await client.dispose()
      await store.end('SIGKILL')
    }
  }

  const logOf = (directory: string): string => join(directory, 'events.sqlite-wal')

  function flip(file: string, at: number): void {
    const content = readFileSync(file)
    content.writeUInt8(content.readUInt8(at) ^ 0x10, at)
    writeFileSync(file, content)
  }

  test('with a byte flipped in the middle of its write-ahead log does not start, until the loss is accepted', async () => {
    const directory = await killed()
    const log = logOf(directory)
    const frames = Math.floor((readFileSync(log).length - headerBytes) / frameBytes)
    expect(frames).toBeGreaterThan(APPENDS)
    flip(log, headerBytes + Math.floor(frames / 2) * frameBytes + 1000)
    const damaged = readFileSync(log)

    const { exitCode, message } = await start(directory).failure()
    expect(exitCode).toBe(1)
    const at = headerBytes + Math.floor(frames / 2) * frameBytes
    expect(message).toBe(
      `event store: The write-ahead log ${log} is damaged at byte ${at}. Restore all of ${directory} from one backup. ` +
        `Without a backup, copy it away, create the empty file ${directory}/accept-loss, and start again to continue ` +
        'without the missing events.\n',
    )
    expect(readFileSync(log).equals(damaged)).toBe(true)
    expect((await start(directory).failure()).exitCode).toBe(1)

    writeFileSync(join(directory, 'accept-loss'), '')
    const last = await lastNumber(directory)
    expect(last).not.toStrictEqual({ n: APPENDS - 1 })
    expect(existsSync(join(directory, 'accept-loss'))).toBe(false)
    expect(await lastNumber(directory)).toStrictEqual(last)
  })

  test.each([
    ['in the last transaction', (bytes: number) => bytes - 1000],
    ['in the header of its write-ahead log', () => 20],
  ])('with a byte flipped %s does not start, and keeps that log', async (_, place) => {
    const directory = await killed()
    const log = logOf(directory)
    flip(log, place(readFileSync(log).length))
    const damaged = readFileSync(log)
    const { exitCode, message } = await start(directory).failure()
    expect(exitCode).toBe(1)
    expect(message).toMatch(
      /^event store: The (?:log ends at position \d+, but position \d+ was|database is empty, but events were) acknowledged\. Restore all of .*accept-loss.*\n$/,
    )
    expect((await start(directory).failure()).exitCode).toBe(1)
    expect(readFileSync(`${log}.kept`).equals(damaged)).toBe(true)
  })

  test('without its write-ahead log, or with an older database, does not start', async () => {
    const directory = await killed()
    truncateSync(logOf(directory))
    expect((await start(directory).failure()).message).toMatch(/(?:was|were) acknowledged/)
  })

  test('undamaged, starts with all events', async () => {
    const directory = await killed()
    expect(await lastNumber(directory)).toStrictEqual({ n: APPENDS - 1 })
    expect(existsSync(`${logOf(directory)}.kept`)).toBe(false)
  })

  test('with any damage to an unacknowledged transaction starts with all others', async () => {
    const atAcknowledged = temporaryDirectory()
    let bytesBefore = 0
    const directory = await killed((running) => {
      copyFileSync(join(running, 'acknowledged'), join(atAcknowledged, 'acknowledged'))
      bytesBefore = readFileSync(logOf(running)).length
    })
    copyFileSync(join(atAcknowledged, 'acknowledged'), join(directory, 'acknowledged'))
    const whole = readFileSync(logOf(directory))
    expect(whole.length).toBeGreaterThan(bytesBefore)
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: whole.length - bytesBefore - 1 }),
        fc.nat({ max: 8192 }),
        fc.boolean(),
        async (from, length, cut) => {
          const copy = temporaryDirectory()
          cpSync(directory, copy, { recursive: true })
          // A power cut leaves some pages of the last write, or the end of the file, unwritten.
          const torn = Buffer.from(cut ? whole.subarray(0, bytesBefore + from + length) : whole)
          torn.fill(0, bytesBefore + from, Math.min(bytesBefore + from + length, torn.length))
          writeFileSync(logOf(copy), torn)
          expect(findDamage(logOf(copy))).toBeUndefined()
          const store = await openEventStore(copy)
          const head = store.log.stream('test-1')?.head
          store.close()
          expect([APPENDS - 2, APPENDS - 1]).toContain(head)
        },
      ),
      { numRuns: 25 },
    )
  })

  test('with any byte flipped before its last two transactions is found damaged', async () => {
    const directory = await killed()
    const log = logOf(directory)
    const whole = readFileSync(log)
    const damaged = join(temporaryDirectory(), 'wal')
    // Each append uses a few frames; the last one commits.
    const most = headerBytes + Math.floor((whole.length - headerBytes) / frameBytes / 2) * frameBytes
    fc.assert(
      fc.property(fc.integer({ min: headerBytes, max: most - 1 }), (at) => {
        const content = Buffer.from(whole)
        content.writeUInt8(content.readUInt8(at) ^ 0x10, at)
        writeFileSync(damaged, content)
        const frame = Math.floor((at - headerBytes) / frameBytes)
        expect(findDamage(damaged)).toBe(headerBytes + frame * frameBytes)
      }),
      { numRuns: 50 },
    )
  })

  test('with an unreadable acknowledged position starts', async () => {
    const directory = await killed()
    writeFileSync(join(directory, 'acknowledged'), '\0'.repeat(26))
    expect(await lastNumber(directory)).toStrictEqual({ n: APPENDS - 1 })
  })
})
