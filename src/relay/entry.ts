import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { z } from 'zod'

const seat = {
  /** The instance that has the seat. */
  instance_id: z.string(),
  fence: z.int().min(1),
  /** Unix seconds. */
  at: z.int(),
}

/** Why a seat ended. `replaced`: its device also had another one. */
const ends = ['given_back', 'ran_out', 'freed', 'blocked', 'replaced'] as const
export type SeatEnd = (typeof ends)[number]

/** What happened to a seat of a relay. A recorded shape is never edited: add a new type. */
export const Entry = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('taken'), ...seat, name: z.string() }),
  z.strictObject({ type: z.literal('ended'), ...seat, name: z.string(), how: z.enum(ends) }),
])
export type Entry = z.infer<typeof Entry>

/** Where the chain of entries ends: how many there are, and the hash of the last one. */
export type ChainHead = { length: number; hash: string }

export const emptyChain: ChainHead = { length: 0, hash: '0'.repeat(64) }

/** The head after one more entry: SHA-256 over the hash before it, as text, and the entry as canonical JSON (RFC 8785). */
export const afterEntry = ({ length, hash }: ChainHead, entry: Entry): ChainHead => ({
  length: length + 1,
  hash: createHash('sha256')
    .update(hash)
    .update(canonicalize(entry) ?? '')
    .digest('hex'),
})
