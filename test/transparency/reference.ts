import { createHash } from 'node:crypto'

/** Hashes and proofs exactly as RFC 6962, section 2.1 defines them, from all leaves and without shortcuts. */

const sha256 = (...parts: Uint8Array[]): Uint8Array =>
  createHash('sha256').update(Buffer.concat(parts)).digest()

export function treeHash(records: readonly Uint8Array[]): Uint8Array {
  const [only] = records
  if (!only) return sha256()
  if (records.length === 1) return sha256(Uint8Array.of(0), only)
  const split = splitOf(records.length)
  return sha256(Uint8Array.of(1), treeHash(records.slice(0, split)), treeHash(records.slice(split)))
}

export function auditPath(index: number, records: readonly Uint8Array[]): Uint8Array[] {
  if (records.length === 1) return []
  const split = splitOf(records.length)
  const [left, right] = [records.slice(0, split), records.slice(split)]
  return index < split
    ? [...auditPath(index, left), treeHash(right)]
    : [...auditPath(index - split, right), treeHash(left)]
}

export function consistencyProof(
  old: number,
  records: readonly Uint8Array[],
  isOldRoot = true,
): Uint8Array[] {
  if (old === records.length) return isOldRoot ? [] : [treeHash(records)]
  const split = splitOf(records.length)
  const [left, right] = [records.slice(0, split), records.slice(split)]
  return old <= split
    ? [...consistencyProof(old, left, isOldRoot), treeHash(right)]
    : [...consistencyProof(old - split, right, false), treeHash(left)]
}

function splitOf(length: number): number {
  let split = 1
  while (split * 2 < length) split *= 2
  return split
}
