import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import type { ActiveKey, Signer } from './signer.ts'

/**
 * Tokens of the kind `v4.public` of PASETO: a message that Ed25519 signs, a footer that anyone can read, and an assertion
 * that is signed but not sent.
 * @see https://github.com/paseto-standard/paseto-spec/blob/master/docs/01-Protocol-Versions/Version4.md
 */
const header = 'v4.public.'
const signatureBytes = 64

/**
 * The bytes to sign: the parts with their number and lengths before them, so that none can take bytes of another. They have
 * memory of their own: what is signed goes to another thread, and a part of a shared buffer would be copied with all of it.
 */
export function bytesToSign(message: string | Buffer, footer: string | Buffer, assertion: string): Buffer {
  const parts = [header, message, footer, assertion]
  const lengths = parts.map((part) => Buffer.byteLength(part))
  const bytes = Buffer.alloc(lengths.reduce((sum, length) => sum + 8 + length, 8))
  let end = bytes.writeBigUInt64LE(BigInt(parts.length))
  for (const [index, part] of parts.entries()) {
    end = bytes.writeBigUInt64LE(BigInt(lengths[index] ?? 0), end)
    end += typeof part === 'string' ? bytes.write(part, end) : part.copy(bytes, end)
  }
  return bytes
}

/** The token of what was signed. @param signature base64 */
export function tokenOf(message: string, footer: string, signature: string): string {
  const body = Buffer.concat([Buffer.from(message), Buffer.from(signature, 'base64')])
  const readable = footer === '' ? '' : `.${Buffer.from(footer).toString('base64url')}`
  return `${header}${body.toString('base64url')}${readable}`
}

/**
 * Signs a statement with a tenant's key, whose id is in the footer.
 * @param assertion for whom it is, which is signed but not sent
 * @throws SigningFailed when the key cannot be used
 */
export async function signStatement(
  signer: Signer,
  tenantId: string,
  key: ActiveKey,
  claims: object,
  assertion: string,
): Promise<string> {
  const message = JSON.stringify(claims)
  const footer = JSON.stringify({ kid: key.kid })
  const signature = await signer.sign(tenantId, key, bytesToSign(message, footer, assertion))
  return tokenOf(message, footer, signature)
}

/** Signs a statement with a key of this process. @param assertion for whom it is, which is signed but not sent */
export function signOwn(claims: object, footer: object, assertion: string, privateKey: KeyObject): string {
  const [message, beside] = [JSON.stringify(claims), JSON.stringify(footer)]
  const signature = sign(null, bytesToSign(message, beside, assertion), privateKey)
  return tokenOf(message, beside, signature.toString('base64'))
}

/** RFC 3339 in whole seconds, as the registered claims of PASETO have it. */
export const timeOf = (seconds: number): string =>
  new Date(Math.floor(seconds) * 1000).toISOString().replace('.000Z', 'Z')

/** A token that was verified: what it says, and what is beside it in clear. */
export type VerifiedToken = { message: unknown; footer: unknown }

/**
 * Verifies a token by the key that its footer or a caller names.
 * @param keyOf the raw public key, from the footer; undefined refuses the token
 * @returns undefined for what is no such token, and for one that was not signed for this assertion
 */
export function verifyToken(
  token: string,
  assertion: string,
  keyOf: (footer: unknown) => Buffer | undefined,
): VerifiedToken | undefined {
  const parts = /^v4\.public\.([\w-]+)\.([\w-]+)$/.exec(token)
  if (!parts) return undefined
  const [body, readable] = parts.slice(1).map((part) => Buffer.from(part, 'base64url'))
  if (!body || !readable || body.length < signatureBytes) return undefined
  const message = body.subarray(0, -signatureBytes)
  const footer = jsonIn(readable)
  const key = keyOf(footer)
  if (key?.length !== 32) return undefined
  const publicKey = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') },
    format: 'jwk',
  })
  const signed = bytesToSign(message, readable, assertion)
  if (!verify(null, signed, publicKey, body.subarray(-signatureBytes))) return undefined
  return { message: jsonIn(message), footer }
}

function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
