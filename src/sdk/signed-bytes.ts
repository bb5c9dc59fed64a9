import type { Place } from './keyset.ts'

/**
 * Tokens of the kind `v4.public` of PASETO: a message that Ed25519 signs, a footer that anyone can read, and an assertion
 * that is signed but not sent. The kind fixes the algorithm, and the signed bytes are those that were sent.
 * @see https://github.com/paseto-standard/paseto-spec/blob/master/docs/01-Protocol-Versions/Version4.md
 */
export const header = 'v4.public.'

/** What is signed: the parts with their number and lengths before them, so that none can take bytes of another. */
function authenticated(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const pieces = [uint64(parts.length), ...parts.flatMap((part) => [uint64(part.length), part])]
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}

/** The bytes that the signature of a token is over. */
export const signedBytes = (message: Uint8Array, footer: Uint8Array, assertion: string): Uint8Array =>
  authenticated([bytesOf(header), message, footer, bytesOf(assertion)])

/** The tenant and product for which a lease of the second version is signed. */
export const assertionOf = ({ tenantId, productId }: Place): string =>
  `keyledger:lease2:${tenantId}:${productId}`

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

function uint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true)
  return bytes
}
