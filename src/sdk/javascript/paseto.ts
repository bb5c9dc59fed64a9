import { bytesOf, utf8 } from './base64.ts'
import { publicKeyOf, signBytes, verifyBytes } from './ed25519.ts'
import { isRecord, type Keyset, keyIn } from './keyset.ts'

/**
 * Tokens of the kind `v4.public` of PASETO: a message that Ed25519 signs, a footer that anyone can read, and an assertion
 * that is signed but not sent. The kind fixes the algorithm, and the signed bytes are those that were sent.
 * @see https://github.com/paseto-standard/paseto-spec/blob/master/docs/01-Protocol-Versions/Version4.md
 */
const header = 'v4.public.'

const signatureBytes = 64

export type Token = { message: Uint8Array; signature: Uint8Array; footer: Uint8Array }

/** What is signed: the parts with their number and lengths before them, so that none can take bytes of another. */
const authenticated = (parts: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from([...uint64(parts.length), ...parts.flatMap((part) => [...uint64(part.length), ...part])])

/** The bytes that the signature of a token is over. */
const signedBytes = (message: Uint8Array, footer: Uint8Array, assertion: string): Uint8Array =>
  authenticated([utf8(header), message, footer, utf8(assertion)])

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
  publicKey: Uint8Array | undefined,
): boolean => verifyBytes(signedBytes(message, footer, assertion), signature, publicKey)

/** Why a token must not be believed. After `unknown_key`, fetch the keyset again. */
export type TokenDoubt = 'malformed' | 'unknown_key' | 'bad_signature'

/**
 * Reads a statement that one of the tenant's keys has signed.
 * @param assertion for whom it was signed, which is part of what is signed
 * @returns why it cannot be used, or its claims and the id of the key
 */
export function readStatement(
  token: Token | undefined,
  assertion: string,
  keyset: Keyset,
): { kid: string; claims: Record<string, unknown> } | TokenDoubt {
  const kid = footerOf(token)?.kid
  if (!token || typeof kid !== 'string') return 'malformed'
  const publicKey = keyIn(keyset, kid)
  if (publicKey === undefined) return 'unknown_key'
  const claims = readSigned(token, assertion, bytesOf(publicKey))
  return typeof claims === 'string' ? claims : { kid, claims }
}

/** What stands in clear beside a token, before anything is verified. */
export const footerOf = (token: Token | undefined): Record<string, unknown> | undefined =>
  token && objectIn(token.footer)

/** The claims of a token that this key has signed for this assertion, or why it cannot be used. */
export function readSigned(
  token: Token,
  assertion: string,
  publicKey: Uint8Array | undefined,
): Record<string, unknown> | TokenDoubt {
  if (!isSigned(token, assertion, publicKey)) return 'bad_signature'
  return objectIn(token.message) ?? 'malformed'
}

/** Signs a statement of a device with its own key, whose public part is in the footer. */
export function signOwn(claims: object, assertion: string, seed: Uint8Array): string {
  const message = utf8(JSON.stringify(claims))
  const footer = utf8(JSON.stringify({ pk: base64url(publicKeyOf(seed)) }))
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
function objectIn(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function uint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true)
  return bytes
}

/** The bytes of base64url without padding, in its only spelling. */
export const decoded = (text: string): Uint8Array | undefined =>
  /[+/=]/.test(text)
    ? undefined
    : bytesOf(
        text
          .replaceAll('-', '+')
          .replaceAll('_', '/')
          .padEnd(Math.ceil(text.length / 4) * 4, '='),
      )
