/** Guarantee: any change of a log directory is found, and the first event that it concerns is named. */
import { describe, expect, test } from 'vitest'
import { entryOf, openPart } from '../../src/transparency/entry.ts'
import { recordBytes } from '../../src/transparency/record.ts'
import type { ReadTile } from '../../src/transparency/tree/tiles.ts'
import { verifyLog } from '../../src/verifier/log.ts'
import { trustIn } from '../../src/verifier/trust.ts'
import { bytesOf, eventsOf, findingOf, key, signedLog } from './signed-log.ts'

const count = 700
const events = eventsOf(count)
const records = bytesOf(events)
const log = signedLog(records)
const trust = trustIn([key], [])

async function* each<T>(values: readonly T[]): AsyncIterable<T> {
  yield* values
}
const stored = (lines: readonly Uint8Array[], tile: ReadTile = log.read) => ({
  checkpoint: log.checkpoint,
  tile,
  records: each(lines),
})
const find = (lines: readonly Uint8Array[], tile?: ReadTile) =>
  findingOf(() => verifyLog(stored(lines, tile), trust))
const nameOf = (index: number) => {
  const { stream, revision, type } = events[index] ?? { stream: '', revision: 0, type: '' }
  return { stream, revision, type }
}
const [first, second] = [300, 301]
const at = (index: number): Uint8Array => records[index] ?? Buffer.of()

test('an unchanged log is proved, with records and without', async () => {
  expect(await verifyLog(stored(records), trust)).toMatchObject({ records: true, kept: undefined })
  const bare = { ...stored(records), records: undefined }
  expect(await verifyLog(bare, trust)).toMatchObject({ records: false })
})

describe('of its records', () => {
  const changes: Record<string, (event: (typeof events)[number]) => object> = {
    data: (event) => ({ ...event, data: { deviceId: 'other' } }),
    id: (event) => ({ ...event, id: 'other' }),
    metadata: (event) => ({ ...event, metadata: null }),
    revision: (event) => ({ ...event, revision: 9 }),
    type: (event) => ({ ...event, type: 'Other' }),
  }

  test.each(Object.keys(changes))('a changed %s is found', async (name) => {
    const event = events[first]
    const changed = event && changes[name]?.(event)
    const line = recordBytes(changed as (typeof events)[number])
    const found = await find(records.with(first, line))
    expect(found).toMatchObject({ finding: 'differs', event: { index: first } })
  })

  test('a missing one is found', async () => {
    expect(await find(records.toSpliced(first, 1))).toStrictEqual({
      finding: 'missing',
      event: { index: first },
    })
    expect(await find(records.slice(0, -3))).toMatchObject({
      finding: 'missing',
      event: { index: count - 3 },
    })
    expect(await find([])).toMatchObject({ finding: 'missing', event: { index: 0 } })
  })

  test('an added one is found', async () => {
    const more = recordBytes({ stream: 'license-x', revision: 0, id: 'x', type: 'X', data: {}, metadata: {} })
    const named = { stream: 'license-x', revision: 0, type: 'X' }
    expect(await find(records.toSpliced(first, 0, more))).toStrictEqual({
      finding: 'added',
      event: { index: first, ...named },
    })
    expect(await find([...records, more])).toStrictEqual({
      finding: 'added',
      event: { index: count, ...named },
    })
  })

  test('two that were swapped, and one that was moved, are found', async () => {
    const swapped = records.with(first, at(second)).with(second, at(first))
    expect(await find(swapped)).toStrictEqual({
      finding: 'order',
      event: { index: first, ...nameOf(second) },
    })
    const moved = records.toSpliced(first, 1).toSpliced(first + 50, 0, at(first))
    expect(await find(moved)).toMatchObject({ finding: 'order', event: { index: first } })
  })

  test('an entry in place of the record of an event with a salt, and another text of that record, are found', async () => {
    const salted = events.map((event) => ({ ...event, metadata: { salt: '0f'.repeat(16) } }))
    const { checkpoint, read: tile } = signedLog(salted.map(entryOf))
    const lines = bytesOf(salted)
    const verifyLines = (changed: Uint8Array[]) => verifyLog({ ...stored(changed, tile), checkpoint }, trust)
    expect(await verifyLines(lines)).toMatchObject({ records: true })
    const [event, line] = [salted[first], lines[first]]
    if (!event || !line) throw new Error('there is no event')
    for (const other of [
      entryOf(event),
      recordBytes(openPart(event)),
      recordBytes({ ...event, metadata: { salt: '0e'.repeat(16) } }),
      Buffer.from(Buffer.from(line).toString().replace('{"salt"', '{ "salt"')),
      Buffer.concat([Buffer.from(line).subarray(0, -1), Buffer.of(0xff, 0x7d)]),
    ])
      expect(await findingOf(() => verifyLines(lines.with(first, other)))).toMatchObject({
        finding: 'differs',
        event: { index: first },
      })
  })

  test('a line that is no JSON is found', async () => {
    expect(await find(records.with(first, Buffer.from('garbage')))).toStrictEqual({
      finding: 'differs',
      event: { index: first },
    })
  })
})

describe('of its tiles', () => {
  /** Changes a byte of one hash. */
  const damaged =
    (level: number, hash: number): ReadTile =>
    async (tile) => {
      const bytes = Buffer.from(await log.read(tile))
      const offset = hash - tile.index * 256
      if (tile.level === level && offset >= 0 && offset < tile.width)
        bytes.writeUInt8(bytes[offset * 32] === 1 ? 2 : 1, offset * 32)
      return bytes
    }

  test('a damaged one is found, when the records are right', async () => {
    await expect(verifyLog(stored(records, damaged(0, first)), trust)).rejects.toThrow(
      'tile/0/001 was changed',
    )
    await expect(verifyLog(stored(records, damaged(1, 1)), trust)).rejects.toThrow('tile/1/000.p/2 differs')
  })

  test('without records, the events are named that it may concern', async () => {
    const bare = { checkpoint: log.checkpoint, tile: damaged(0, first), records: undefined }
    await expect(verifyLog(bare, trust)).rejects.toThrow('one of the events 256 to 511')
  })

  test('a log that was rewritten with its tiles does not have the signed root', async () => {
    const event = events[first]
    if (!event) throw new Error('there is none')
    const rewritten = signedLog(records.with(first, recordBytes({ ...event, data: {} })))
    const lines = records.with(first, recordBytes({ ...event, data: {} }))
    await expect(verifyLog(stored(lines, rewritten.read), trust)).rejects.toThrow('the log was rewritten')
    const forged = { checkpoint: rewritten.checkpoint, tile: rewritten.read, records: each(lines) }
    const kept = signedLog(records.slice(0, 400)).checkpoint
    const { finding } = await findingOf(() => verifyLog(forged, trust, kept))
    expect(finding).toBe('fork')
  })
})

describe('a kept checkpoint', () => {
  test.each([0, 1, 255, 256, 400, count])('of %i events is the beginning of the log', async (size) => {
    const { checkpoint } = signedLog(records.slice(0, size))
    expect((await verifyLog(stored(records), trust, checkpoint)).kept?.size).toBe(size)
  })

  test('may be within a receipt', async () => {
    const receipt = await signedLog(records.slice(0, 400)).receiptOf(3)
    expect((await verifyLog(stored(records), trust, receipt)).kept?.size).toBe(400)
  })

  test('of a longer log shows that events were taken back', async () => {
    const longer = signedLog([...records, Buffer.from('more')]).checkpoint
    const { finding } = await findingOf(() => verifyLog(stored(records), trust, longer))
    expect(finding).toBe('rollback')
  })
})
