import { z } from 'zod'
import { Moment } from '../values.ts'

/** Facts about the log itself, in a stream of their own that belongs to no tenant. */
export const LedgerEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('LedgerIdentified'),
    /** The id is random. A copy of the log has the same id; any other log has another one. */
    data: z.strictObject({ ledgerId: z.uuid(), at: Moment }),
  }),
])
export type LedgerEvent = z.infer<typeof LedgerEvent>
