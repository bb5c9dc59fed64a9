import { sign } from 'node:crypto'
import { key, place } from './keys.ts'

/** Pre-authentication encoding: the number of parts, then each with its length before it, as 64 bits, lowest first. */
function encoded(parts: readonly Buffer[]): Buffer {
  const length = (value: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(BigInt(value))
    return bytes
  }
  return Buffer.concat([length(parts.length), ...parts.flatMap((part) => [length(part.length), part])])
}

/** @param text the message; an object is written as JSON */
export function signedToken(
  text: unknown,
  footer: string,
  assertion: string,
  { by = key, kind = 'v4.public.' }: { by?: typeof key; kind?: string } = {},
): string {
  const body = Buffer.from(typeof text === 'string' ? text : JSON.stringify(text))
  const parts = [Buffer.from(kind), body, Buffer.from(footer), Buffer.from(assertion)]
  const signature = sign(null, encoded(parts), by.privateKey)
  const beside = footer === '' ? '' : `.${Buffer.from(footer).toString('base64url')}`
  return `${kind}${Buffer.concat([body, signature]).toString('base64url')}${beside}`
}

/** @property says what kind of statement it is, which is part of what is signed */
type Signing = { by?: typeof key; kid?: string; in?: typeof place; kind?: string; says?: string }

/** A statement of the tenant. */
export const tokenOf = (
  message: unknown,
  { by = key, kid = by.kid, in: at = place, kind = 'v4.public.', says = 'lease2' }: Signing = {},
): string =>
  signedToken(message, JSON.stringify({ kid }), `keyledger:${says}:${at.tenantId}:${at.productId}`, {
    by,
    kind,
  })
