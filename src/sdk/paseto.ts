import { verifyBytes } from './ed25519.ts'
import { header, signedBytes } from './signed-bytes.ts'

const signatureBytes = 64

export type Token = { message: Uint8Array; signature: Uint8Array; footer: Uint8Array }

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

/** The JSON object in a part of a token; undefined when there is none. */
export function objectIn(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
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
