import type { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { type Certified, readAnswer } from '../answer.ts'
import type { KnownTime } from '../clock.ts'
import { type ChainHead, emptyChain } from '../entry.ts'
import { type BlockedDevice, RelaySeat } from '../floor.ts'

/** What a relay was enrolled with. */
const Enrollment = z.strictObject({
  tenantId: z.string(),
  productId: z.string(),
  /** Of the license key. */
  keyHash: z.string(),
  name: z.string(),
  seats: z.int().min(1),
  /** The administrator's password, hashed. */
  password: z.string(),
  /** Where it renews by itself, and as whom; null for a relay without a network, which does not keep the license key. */
  server: z.strictObject({ url: z.string(), sdkKey: z.string(), licenseKey: z.string() }).nullable(),
})
export type Enrollment = z.infer<typeof Enrollment>

const Head = z.strictObject({ length: z.int(), hash: z.string() })

/** What the relay keeps by a name, one value of each. */
const shapes = {
  enrollment: Enrollment,
  /** As the vendor sent it. */
  answer: z.string(),
  /** The present end of the chain. */
  head: Head,
  /** The end of the chain as the vendor knows it from the last request that was answered. */
  reported: Head,
  /** Of the last request; it rises with each. */
  counter: z.int(),
  /** Minutes up to this one were reported. */
  reportedMinute: z.int(),
  lastFence: z.int(),
  time: z.strictObject({ now: z.int(), highest: z.int() }),
  /** When the request of the present certificate was made, in milliseconds. */
  requestedAt: z.int(),
  /** The relay gave its seats back. */
  released: z.literal(true),
} as const

type Name = keyof typeof shapes
type Value<N extends Name> = z.infer<(typeof shapes)[N]>

export function readValue<N extends Name>(database: DatabaseSync, name: N): Value<N> | undefined {
  const row = database.prepare('select value from state where name = ?').get(name)
  return row && (shapes[name].parse(JSON.parse(String(row.value))) as Value<N>)
}

export function writeValue<N extends Name>(database: DatabaseSync, name: N, value: Value<N>): void {
  database
    .prepare('insert into state (name, value) values (?, ?) on conflict do update set value = excluded.value')
    .run(name, JSON.stringify(value))
}

export function removeValue(database: DatabaseSync, name: Name): void {
  database.prepare('delete from state where name = ?').run(name)
}

/** Everything that decides what a relay answers, as it is stored. */
export type Kept = {
  enrollment: Enrollment | undefined
  certified: Certified | undefined
  requestedAt: number
  released: boolean
  head: ChainHead
  lastFence: number
  time: KnownTime | undefined
  seats: RelaySeat[]
  blocked: BlockedDevice[]
  /** The fewest seats that a request asked for which was not answered yet; Infinity without one. */
  fewestAsked: number
  reportedMinute: number
}

export function readKept(database: DatabaseSync): Kept {
  const text = readValue(database, 'answer')
  const seats = database.prepare('select seat from seats').all()
  const blocked = database.prepare('select id, seat from blocked order by id').all()
  const asked = database.prepare('select min(seats) as fewest from requests').get()
  return {
    enrollment: readValue(database, 'enrollment'),
    certified: text === undefined ? undefined : readAnswer(text),
    requestedAt: readValue(database, 'requestedAt') ?? 0,
    released: readValue(database, 'released') ?? false,
    head: readValue(database, 'head') ?? emptyChain,
    lastFence: readValue(database, 'lastFence') ?? 0,
    time: readValue(database, 'time'),
    seats: seats.map(({ seat }) => RelaySeat.parse(JSON.parse(String(seat)))),
    blocked: blocked.map(({ id, seat }) => ({
      ...RelaySeat.parse(JSON.parse(String(seat))),
      blockedId: z.int().parse(id),
    })),
    fewestAsked: z.int().nullish().parse(asked?.fewest) ?? Number.POSITIVE_INFINITY,
    reportedMinute: readValue(database, 'reportedMinute') ?? 0,
  }
}
