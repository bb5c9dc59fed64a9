import { z } from 'zod'
import { Moment } from '../values.ts'

/** Where the hash chain of a relay's takings ends: how many entries it has, and the hash of the last. */
export const ChainHead = z.strictObject({
  length: z.int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
})
export type ChainHead = z.infer<typeof ChainHead>

const named = { relayId: z.string().min(1), name: z.string().min(1) }

/** What a relay asked with, and what was signed for it. */
const certified = {
  ...named,
  /** How many seats it may give out until `endsAt`. */
  seats: z.int().min(1),
  endsAt: Moment,
  /** The last head of its request, which its next one has to know. */
  head: ChainHead,
  nonce: z.string().min(1),
  counter: z.int().min(1),
  serial: z.int().min(1),
  at: Moment,
}

/** The events of relays, which the streams of licenses hold. */
export const relayEvents = [
  /** A relay in a customer's network got a certificate, with which it gives out seats of the license by itself. */
  z.object({
    type: z.literal('RelayEnrolled'),
    /** Its public key (Ed25519, base64url): what it signs, no other can. */
    data: z.strictObject({ ...certified, publicKey: z.string().min(1) }),
  }),
  /** The relay got a new certificate. Those before it may be used until they end. */
  z.object({ type: z.literal('RelayRenewed'), data: z.strictObject(certified) }),
  /** The relay gave its seats back, signed by its key. */
  z.object({ type: z.literal('RelayReleased'), data: z.strictObject({ ...named, at: Moment }) }),
  /** The relay was copied: its chain of takings is not that which was reported before. It is never renewed. */
  z.object({
    type: z.literal('RelayForked'),
    data: z.strictObject({
      ...named,
      /** What was reported before, and what was reported now. */
      known: ChainHead,
      reported: ChainHead,
      at: Moment,
    }),
  }),
] as const
