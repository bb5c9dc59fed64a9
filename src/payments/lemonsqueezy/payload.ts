import { z } from 'zod'

/** Ids are numbers in some places and strings in others. */
export const Numeric = z.union([z.int(), z.string().min(1).max(255)]).transform(String)

/** The fields of every event. */
export const Payload = z.object({
  meta: z.object({ event_name: z.string() }),
  data: z.object({ id: Numeric, attributes: z.unknown() }),
})
export type Payload = z.infer<typeof Payload>
