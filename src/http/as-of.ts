import { z } from 'zod'
import type { AsOf } from '../history/moment.ts'
import { inUtc, momentIn } from './schemas.ts'

/** A past moment: a time, or the sequence of an event, which means right after that event. */
export const pastMoment = z.union([
  z.string().regex(/^\d{1,9}$/, 'must be the sequence of an event'),
  momentIn,
])

/** What {@link pastMoment} may be, in words. */
export const momentHelp =
  'an ISO 8601 time, or the sequence of an event in its history. Events recorded exactly at that time are included'

export const asOf = pastMoment.optional().meta({
  description: `Return the state at this moment: ${momentHelp}`,
  example: '2026-11-21T09:30:00.000Z',
})

export const asOfQuery = z.strictObject({ asOf })

/** The moment of a text that {@link pastMoment} accepts. */
export const asOfIn = (text: string): AsOf =>
  /^\d+$/.test(text) ? { sequence: Number(text) } : { time: inUtc(text) }

/** @returns undefined for the present */
export const asOfFrom = (text: string | undefined): AsOf | undefined =>
  text === undefined ? undefined : asOfIn(text)
