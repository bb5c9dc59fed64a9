import { deletedRevision } from '../storage/event.ts'

const largestInt64 = '9223372036854775807'

/**
 * Parses a 64-bit number from the generated code. Numbers beyond the safe integers are beyond every revision
 * and position, so the largest safe integer stands for them.
 */
export function parseUint64(decimal: string): number {
  return Math.min(Number(decimal), Number.MAX_SAFE_INTEGER)
}

/** Encodes a revision; a tombstone's is the largest int64. */
export function revisionOnWire(revision: number): number | string {
  return revision === deletedRevision ? largestInt64 : revision
}
