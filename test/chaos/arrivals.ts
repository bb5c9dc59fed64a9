import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'

const Arrival = z.object({
  /** In milliseconds, by the machine's clock. */
  at: z.number(),
  path: z.string(),
  /** Whether the signatures are valid; undefined when they are not checked. */
  verified: z.boolean().optional(),
  payload: z.unknown(),
})
/** A delivery as the receiver recorded it. */
export type Arrival = z.input<typeof Arrival>

/** Reads all recorded deliveries, also when the receiver was killed while it wrote the last line. */
export function readArrivals(file: string): Arrival[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const parsed = line === '' ? undefined : Arrival.safeParse(parseLine(line))
      return parsed?.success ? [parsed.data] : []
    })
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // The receiver was killed within this line, before it answered.
    return undefined
  }
}
