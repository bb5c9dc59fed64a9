import type { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { afterEntry, type ChainHead, Entry, emptyChain } from '../entry.ts'
import type { Floor, RelaySeat } from '../floor.ts'
import { readValue, writeValue } from './state.ts'

/** What happened in a minute: the most seats that were in use, how many were taken, and how many devices got none. */
export type Minute = { minute: number; peak: number; taken: number; denied: number }

/**
 * Writes what changed from one floor to the next, with its entries at the end of the chain.
 * @returns the new end of the chain
 */
export function writeFloor(
  database: DatabaseSync,
  before: Floor,
  after: Floor,
  head: ChainHead,
  entries: readonly Entry[],
): ChainHead {
  const insert = database.prepare(
    'insert into entries (number, hash, instance_id, at, entry) values (?, ?, ?, ?, ?)',
  )
  let end = head
  for (const entry of entries) {
    end = afterEntry(end, entry)
    insert.run(end.length, end.hash, entry.instance_id, entry.at, JSON.stringify(entry))
  }
  for (const instanceId of before.seats.keys()) {
    if (!after.seats.has(instanceId))
      database.prepare('delete from seats where instance_id = ?').run(instanceId)
  }
  for (const seat of after.seats.values()) {
    if (before.seats.get(seat.instanceId) !== seat) writeSeat(database, seat)
  }
  writeBlocked(database, before, after)
  if (after.lastFence !== before.lastFence) writeValue(database, 'lastFence', after.lastFence)
  if (end !== head) writeValue(database, 'head', end)
  return end
}

function writeBlocked(database: DatabaseSync, before: Floor, after: Floor): void {
  for (const { blockedId } of before.blocked.filter((each) => !after.blocked.includes(each)))
    database.prepare('delete from blocked where id = ?').run(blockedId)
  for (const { blockedId, ...seat } of after.blocked.filter((each) => !before.blocked.includes(each)))
    database.prepare('insert into blocked (id, seat) values (?, ?)').run(blockedId, JSON.stringify(seat))
}

const writeSeat = (database: DatabaseSync, seat: RelaySeat): void =>
  void database
    .prepare(
      'insert into seats (instance_id, seat) values (?, ?) on conflict do update set seat = excluded.seat',
    )
    .run(seat.instanceId, JSON.stringify(seat))

/** Writes until when seats last, in Unix seconds: for those who look at a relay that does not run. */
export function writeEnds(database: DatabaseSync, ends: ReadonlyMap<string, number>): void {
  const update = database.prepare('update seats set ends_at = ? where instance_id = ?')
  for (const [instanceId, endsAt] of ends) update.run(endsAt, instanceId)
}

/** Adds to what happened in a minute. */
export function addToMinute(database: DatabaseSync, { minute, peak, taken, denied }: Minute): void {
  database
    .prepare(
      `insert into minutes (minute, peak, taken, denied) values (?, ?, ?, ?)
       on conflict do update set peak = max(peak, excluded.peak),
         taken = taken + excluded.taken, denied = denied + excluded.denied`,
    )
    .run(minute, peak, taken, denied)
}

const Row = z.object({ number: z.int(), hash: z.string(), entry: z.string() })

/** An entry of the chain with its place in it. */
export type Recorded = ChainHead & { entry: Entry }

const recorded = (row: unknown): Recorded => {
  const { number, hash, entry } = Row.parse(row)
  return { length: number, hash, entry: Entry.parse(JSON.parse(entry)) }
}

/** The newest entries first. */
export const newestEntries = (database: DatabaseSync, most: number): Recorded[] =>
  database
    .prepare('select number, hash, entry from entries order by number desc limit ?')
    .all(most)
    .map(recorded)

/** The fence of the seat that an instance had; undefined for an instance that is not known. */
export function fenceOf(database: DatabaseSync, instanceId: string): number | undefined {
  const row = database
    .prepare('select number, hash, entry from entries where instance_id = ? order by number desc limit 1')
    .get(instanceId)
  return row && recorded(row).entry.fence
}

/**
 * Checks every entry that is still kept.
 * @returns undefined when each follows from the one before it and the last one is the head; else what is wrong
 */
export function faultInChain(database: DatabaseSync): string | undefined {
  const head = readValue(database, 'head') ?? emptyChain
  let before: ChainHead | undefined
  for (const row of database.prepare('select number, hash, entry from entries order by number').iterate()) {
    const { length, hash, entry } = recorded(row)
    const start = before ?? (length === 1 ? emptyChain : undefined)
    if (before && length !== before.length + 1) return `entry ${String(before.length + 1)} is missing`
    if (start && afterEntry(start, entry).hash !== hash) return `entry ${String(length)} was changed`
    before = { length, hash }
  }
  const end = before ?? head
  return end.length === head.length && end.hash === head.hash ? undefined : 'the last entries are missing'
}
