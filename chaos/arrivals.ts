import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'

const Arrival = z.object({
  /** In milliseconds, by the clock of the machine. */
  at: z.number(),
  path: z.string(),
  /** Whether the signatures are right; undefined where that is not looked at. */
  verified: z.boolean().optional(),
  payload: z.unknown(),
})
/** A delivery as the receiver wrote it down. */
export type Arrival = z.input<typeof Arrival>

/** Everything that has arrived, also the last line of a receiver that was killed while it wrote. */
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
    // It was killed in the middle of the line, before it answered.
    return undefined
  }
}
