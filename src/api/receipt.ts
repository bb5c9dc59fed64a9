import { z } from 'zod'

/** A proof that an event is in the signed log. */
export const receiptOut = z
  .object({
    record: z.string().meta({ description: 'The event as canonical JSON (RFC 8785), to the byte' }),
    proof: z
      .string()
      .meta({ description: 'Its place in the log, and the signed checkpoint: C2SP tlog-proof' }),
  })
  .meta({ id: 'Receipt' })
