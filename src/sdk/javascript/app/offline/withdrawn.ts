import type { Place } from '../../keyset.ts'
import { secondsFrom } from '../../lease2.ts'
import { parseToken, readStatement } from '../../paseto.ts'

/** A list of files that must not be used any more, with its token, which is verified again after it was stored. */
export type Withdrawn = { token: string; files: readonly string[]; serial: number; issuedAt: number }

/** Reads a list of withdrawn files. @returns undefined for what is none, or was not signed for this product */
export function readWithdrawn(
  token: string,
  { tenantId, productId }: Place,
  keys: Readonly<Record<string, string>>,
): Withdrawn | undefined {
  const read = readStatement(parseToken(token), `keyledger:withdrawn1:${tenantId}:${productId}`, { keys })
  if (typeof read === 'string') return undefined
  const { files, serial, iat } = read.claims
  const issuedAt = secondsFrom(iat)
  if (!Array.isArray(files) || typeof serial !== 'number' || issuedAt === undefined) return undefined
  return { token, files: files.filter((id) => typeof id === 'string'), serial, issuedAt }
}
