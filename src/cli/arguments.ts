import type { z } from 'zod'
import { ConfigError } from '../config.ts'

/** Parses an argument. @throws ConfigError with a message that names it */
export function parsed<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new ConfigError(
    `${what} is not valid: ${result.error.issues.map(({ message }) => message).join('; ')}`,
  )
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** The time after `30d`, `12h`, `15m` or `90s`. @throws ConfigError for another format */
export function momentAfter(now: Date, duration: string): string {
  const match = /^(\d{1,6})([smhd])$/.exec(duration)
  const unit = match?.[2]
  if (!match || (unit !== 's' && unit !== 'm' && unit !== 'h' && unit !== 'd')) {
    throw new ConfigError(`${duration} is not a duration. Write it as 30d, 12h, 15m or 90s.`)
  }
  return new Date(now.getTime() + Number(match[1]) * unitMs[unit]).toISOString()
}
