import { z } from 'zod'
import type { AsOf } from '../history/moment.ts'
import { inUtc, momentIn } from './schemas.ts'

/** A past moment: a time, or the sequence of an event, which means right after that event. */
export const asOf = z
  .union([z.string().regex(/^\d{1,9}$/), momentIn])
  .optional()
  .meta({
    description:
      'Return the state at this moment: an ISO 8601 time, or the sequence of an event in its history. Events recorded exactly ' +
      'at that time are included',
    example: '2026-11-21T09:30:00.000Z',
  })

export const asOfQuery = z.strictObject({ asOf })

/** @returns undefined for the present */
export function asOfFrom(text: string | undefined): AsOf | undefined {
  if (text === undefined) return undefined
  return /^\d+$/.test(text) ? { sequence: Number(text) } : { time: inUtc(text) }
}
