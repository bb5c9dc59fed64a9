import { z } from 'zod'
import { Moment } from '../values.ts'

/** The name of the notary's log, which every checkpoint begins with: a URL without its scheme, by C2SP tlog-checkpoint. */
const Origin = z.string().min(1).max(255)
/** A public key as text, such as `licenses.example.com+530d903a+A…`: C2SP signed-note. */
const Key = z.string().min(1).max(400)

/** Everything the stream `notary-log` may hold. A recorded shape is never edited: add a new type. */
export const NotaryEvent = z.discriminatedUnion('type', [
  /** From here on, checkpoints are signed in this name. */
  z.object({
    type: z.literal('NotaryLogStarted'),
    data: z.strictObject({
      origin: Origin,
      key: Key,
      /** The log before it, which is not continued, with its last known checkpoint. */
      predecessor: z
        .strictObject({ origin: Origin, checkpoint: z.string().max(20_000).nullable() })
        .nullable(),
      at: Moment,
    }),
  }),
  /** Checkpoints are signed by this key as well. */
  z.object({
    type: z.literal('NotaryKeyAdded'),
    data: z.strictObject({ key: Key, at: Moment }),
  }),
  z.object({
    type: z.literal('NotaryKeyRetired'),
    data: z.strictObject({ key: Key, at: Moment }),
  }),
])
export type NotaryEvent = z.infer<typeof NotaryEvent>
