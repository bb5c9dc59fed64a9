import type { KeyObject } from 'node:crypto'
import { z } from 'zod'
import { armored, type Kind, tokenIn } from './armor.ts'
import { signOwn, verifyToken } from './paseto.ts'

/** The product that something is said to. */
export type Place = { tenantId: string; productId: string }

type OwnKind = Extract<Kind, 'REQUEST' | 'RELEASE' | 'RELAY REQUEST' | 'RELAY RELEASE'>

const footer = z.object({ pk: z.string().regex(/^[A-Za-z0-9_-]{43}$/) })

const assertionOf = (kind: OwnKind, { tenantId, productId }: Place): string =>
  `keyledger:${kind.toLowerCase().replace(' ', '-')}1:${tenantId}:${productId}`

/**
 * What a device or relay says, signed by a key of its own, which is in the footer.
 * @returns undefined for a text of another kind, one that was not signed for this product by the key in it, and wrong claims
 */
export function readStatement<Claims>(
  kind: OwnKind,
  text: string,
  place: Place,
  Claims: z.ZodType<Claims>,
): { claims: Claims; publicKey: string } | undefined {
  const token = tokenIn(kind, text)
  if (token === undefined) return undefined
  const read = verifyToken(token, assertionOf(kind, place), (beside) => {
    const { data } = footer.safeParse(beside)
    return data && Buffer.from(data.pk, 'base64url')
  })
  const { data: claims } = Claims.safeParse(read?.message)
  const { data: key } = footer.safeParse(read?.footer)
  return claims && key && { claims, publicKey: key.pk }
}

/**
 * The text that {@link readStatement} reads.
 * @param publicKey raw, base64url
 */
export function ownStatement(
  kind: OwnKind,
  place: Place,
  claims: object,
  { publicKey, privateKey }: { publicKey: string; privateKey: KeyObject },
): string {
  return armored(kind, signOwn(claims, { pk: publicKey }, assertionOf(kind, place), privateKey))
}
