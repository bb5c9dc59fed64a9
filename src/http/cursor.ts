import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { PageStart } from '../../projections/page.ts'
import { invalid } from './problem.ts'

/**
 * Cursors are opaque and authenticated, and bound to what they were made for, so that one of another tenant, list
 * or filter is refused instead of answered with a page of nonsense.
 */
export type Cursors = {
  /** @param boundTo the tenant, the list and its filters */
  write(boundTo: readonly unknown[], after: PageStart | undefined): string | null
  /** @throws Problem 400 for a cursor that was not made by {@link write} for the same thing */
  read(boundTo: readonly unknown[], cursor: string | undefined): PageStart | undefined
}

const Place = z.strictObject({ createdAt: z.iso.datetime(), id: z.string() })
const tagLength = 16

export function createCursors(key: KeyObject): Cursors {
  const tag = (boundTo: readonly unknown[], place: string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([boundTo, place]))
      .digest()
      .subarray(0, tagLength)

  return {
    write(boundTo, after) {
      if (after === undefined) return null
      const place = JSON.stringify(after)
      return Buffer.concat([tag(boundTo, place), Buffer.from(place)]).toString('base64url')
    },
    read(boundTo, cursor) {
      if (cursor === undefined) return undefined
      const bytes = Buffer.from(cursor, 'base64url')
      const place = bytes.subarray(tagLength).toString()
      const given = bytes.subarray(0, tagLength)
      if (given.length < tagLength || !timingSafeEqual(given, tag(boundTo, place))) {
        throw invalid('this cursor does not belong to this list; start again without it')
      }
      return Place.parse(JSON.parse(place))
    },
  }
}
