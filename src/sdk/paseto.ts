import { keyBytes, publicKeyOf, signBytes, verifyBytes } from './ed25519.ts'
import { type Keyset, keyIn } from './keyset.ts'

/**
 * Tokens of the kind `v4.public` of PASETO: a message that Ed25519 signs, a footer that anyone can read, and an assertion
 * that is signed but not sent. The kind fixes the algorithm, and the signed bytes are those that were sent.
 * @see https://github.com/paseto-standard/paseto-spec/blob/master/docs/01-Protocol-Versions/Version4.md
 */
const header = 'v4.public.'

const signatureBytes = 64

export type Token = { message: Uint8Array; signature: Uint8Array; footer: Uint8Array }

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
const signedBytes = (message: Uint8Array, footer: Uint8Array, assertion: string): Uint8Array =>
  authenticated([bytesOf(header), message, footer, bytesOf(assertion)])

/** Takes a token apart without verifying it; undefined for what is none, also in another spelling of the same bytes. */
export function parseToken(token: unknown): Token | undefined {
  if (typeof token !== 'string' || !token.startsWith(header)) return undefined
  const [body = '', footer = '', ...more] = token.slice(header.length).split('.')
  const signed = decoded(body)
  const known = decoded(footer)
  if (more.length > 0 || !signed || !known || signed.length < signatureBytes) return undefined
  const end = signed.length - signatureBytes
  return { message: signed.subarray(0, end), signature: signed.subarray(end), footer: known }
}

/** Whether the token was signed with this key, for this assertion. Never throws. */
export const isSigned = (
  { message, signature, footer }: Token,
  assertion: string,
  key: Uint8Array,
): boolean => verifyBytes(signedBytes(message, footer, assertion), signature, key)

/**
 * Reads a statement that one of the tenant's keys has signed.
 * @param assertion for whom it was signed, which is part of what is signed
 * @returns why it cannot be used, or its claims and the id of the key
 */
export function readStatement(
  token: unknown,
  assertion: string,
  keyset: Keyset,
): { kid: string; claims: Record<string, unknown> } | 'malformed' | 'unknown_key' | 'bad_signature' {
  const parsed = parseToken(token)
  const kid = parsed && objectIn(parsed.footer)?.kid
  if (!parsed || typeof kid !== 'string') return 'malformed'
  const publicKey = keyIn(keyset, kid)
  if (publicKey === undefined) return 'unknown_key'
  const key = keyBytes(publicKey)
  if (!key || !isSigned(parsed, assertion, key)) return 'bad_signature'
  const claims = objectIn(parsed.message)
  return claims ? { kid, claims } : 'malformed'
}

/** Signs a statement of a device with its own key, whose public part is in the footer. */
export function signOwn(claims: object, assertion: string, seed: Uint8Array): string {
  const message = bytesOf(JSON.stringify(claims))
  const footer = bytesOf(JSON.stringify({ pk: base64url(publicKeyOf(seed)) }))
  const signature = signBytes(signedBytes(message, footer, assertion), seed)
  const body = new Uint8Array([...message, ...signature])
  return `${header}${base64url(body)}.${base64url(footer)}`
}

/** Base64url without padding. */
export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/** The JSON object in a part of a token; undefined when there is none. */
export function objectIn(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

function uint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true)
  return bytes
}

/** Base64url without padding, in its only spelling. */
function decoded(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined
  try {
    const plain = text.replaceAll('-', '+').replaceAll('_', '/')
    const binary = atob(plain)
    if (btoa(binary).replace(/=+$/, '') !== plain) return undefined
    return Uint8Array.from(binary, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
