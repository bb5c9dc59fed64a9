import { DELETED_REVISION } from '../storage/event.ts'

const LARGEST_INT64 = '9223372036854775807'

/**
 * A 64-bit number as the generated code hands it over. What lies beyond the safe integers lies beyond every
 * revision and position there is, so it may as well be the largest of them.
 */
export function parseUint64(decimal: string): number {
  return Math.min(Number(decimal), Number.MAX_SAFE_INTEGER)
}

/** A tombstone's revision is the largest int64 to the client. */
export function revisionOnWire(revision: number): number | string {
  return revision === DELETED_REVISION ? LARGEST_INT64 : revision
}
