import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { PageStart } from '../../projections/page.ts'
import { invalid } from './problem.ts'

/**
 * Cursors are opaque, authenticated and bound to one tenant, list and filter. A cursor of another list is refused;
 * it would otherwise return a wrong page.
 */
export type Cursors = {
  /** @param boundTo the tenant, the list and its filters */
  write(boundTo: readonly unknown[], after: PageStart | undefined): string | null
  /** @throws Problem 400 for a cursor that {@link write} did not make for the same list */
  read(boundTo: readonly unknown[], cursor: string | undefined): PageStart | undefined
}

const CursorKey = z.strictObject({ createdAt: z.iso.datetime(), id: z.string() })
const tagLength = 16

export function createCursors(key: KeyObject): Cursors {
  const tag = (boundTo: readonly unknown[], text: string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([boundTo, text]))
      .digest()
      .subarray(0, tagLength)

  return {
    write(boundTo, after) {
      if (after === undefined) return null
      const text = JSON.stringify(after)
      return Buffer.concat([tag(boundTo, text), Buffer.from(text)]).toString('base64url')
    },
    read(boundTo, cursor) {
      if (cursor === undefined) return undefined
      const bytes = Buffer.from(cursor, 'base64url')
      const text = bytes.subarray(tagLength).toString()
      const given = bytes.subarray(0, tagLength)
      if (given.length < tagLength || !timingSafeEqual(given, tag(boundTo, text))) {
        throw invalid('this cursor does not belong to this list; start again without it')
      }
      return CursorKey.parse(JSON.parse(text))
    },
  }
}
