import { createHash } from 'node:crypto'

/** A SHA-256 hash, 32 bytes. */
export type Hash = Uint8Array

export const hashBytes = 32

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

/** @returns the hash of a record as a leaf (RFC 6962, section 2.1) */
export const leafHash = (record: Uint8Array): Hash =>
  createHash('sha256').update(leafPrefix).update(record).digest()

/** @returns the hash of the node above two others (RFC 6962, section 2.1) */
export const nodeHash = (left: Hash, right: Hash): Hash =>
  createHash('sha256').update(nodePrefix).update(left).update(right).digest()

/** @returns the root of the tree without leaves */
export const emptyRoot = (): Hash => createHash('sha256').digest()

/** Roots are public, so this need not take the same time for all. */
export const sameHash = (left: Hash, right: Hash): boolean => Buffer.compare(left, right) === 0
