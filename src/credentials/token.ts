import { crc32 } from 'node:zlib'
import { type RandomBytes, randomText } from './random.ts'
import { sha256 } from './sha256.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Kinds of tokens: access token, SDK key, checkout key. */
type TokenKind = 'pat' | 'sdk' | 'chk'

/**
 * Makes a token: `kl_<kind>_`, 32 random base62 characters, and 6 characters of the CRC-32 of all before them.
 */
export function newToken(kind: TokenKind, randomBytes: RandomBytes): { token: string; tokenHash: string } {
  const stem = `kl_${kind}_${randomText(base62, 32, randomBytes)}`
  const token = stem + checksum(stem)
  return { token, tokenHash: sha256(token) }
}

/** A token's display form: its kind and last four characters. */
export const displayOf = (token: string): string => `${token.slice(0, 7)}…${token.slice(-4)}`

/** The hash by which a token is looked up; undefined for a wrong format or checksum, which needs no look-up. */
export function tokenHashOf(token: string, kind: TokenKind): string | undefined {
  const wellFormed = token.length === 45 && token.startsWith(`kl_${kind}_`)
  return wellFormed && checksum(token.slice(0, -6)) === token.slice(-6) ? sha256(token) : undefined
}

function checksum(stem: string): string {
  let text = ''
  for (let rest = crc32(stem); text.length < 6; rest = Math.floor(rest / 62))
    text = base62.charAt(rest % 62) + text
  return text
}
