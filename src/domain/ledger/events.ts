import { z } from 'zod'
import { Moment } from '../values.ts'

/** What the log says of itself, in a stream of its own; it belongs to no tenant. */
export const LedgerEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('LedgerIdentified'),
    /** The id is random. A copy of the log with the same events has the same id, any other log another one. */
    data: z.strictObject({ ledgerId: z.uuid(), at: Moment }),
  }),
])
export type LedgerEvent = z.infer<typeof LedgerEvent>
