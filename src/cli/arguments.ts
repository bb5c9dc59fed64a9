import type { z } from 'zod'
import { ConfigError } from '../config.ts'
import { inputWords, sentenceOf } from '../domain/input-words.ts'
import { wholeNumberIn } from '../numbers.ts'

/** Parses an argument. @throws ConfigError with a message that names it */
export function parsed<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const result = schema.safeParse(value, { error: inputWords })
  if (result.success) return result.data
  throw new ConfigError(
    sentenceOf(result.error, what, (path) => `${what}${path.startsWith('[') ? '' : ' '}${path}`),
  )
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** The time after `30d`, `12h`, `15m` or `90s`. @throws ConfigError for another format */
export function momentAfter(now: Date, duration: string): string {
  const unit = duration.at(-1)
  const count = wholeNumberIn(duration.slice(0, -1), 0, 999_999)
  if (count === undefined || (unit !== 's' && unit !== 'm' && unit !== 'h' && unit !== 'd')) {
    throw new ConfigError(`${duration} is not a duration. Write it as 30d, 12h, 15m or 90s.`)
  }
  return new Date(now.getTime() + count * unitMs[unit]).toISOString()
}
