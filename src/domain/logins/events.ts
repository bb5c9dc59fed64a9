import { z } from 'zod'
import { Scope } from '../tokens/scopes.ts'
import { Moment, Slug } from '../values.ts'

const settled = {
  tenantId: Slug,
  memberId: z.string().min(1),
  /** What the program calls itself; nobody has checked it. */
  clientName: z.string(),
  scopesAsked: z.array(Scope),
  at: Moment,
}

/**
 * Everything a `login-<hash>` stream may hold: what a member decided about a program that asked to be signed in. The
 * hash is of its device code. That it asked is not recorded: anybody may ask, and most of it comes to nothing.
 */
export const LoginEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('LoginApproved'),
    data: z.strictObject({
      ...settled,
      /** The token that the program gets is made when it fetches it, with this id, so that there is only one. */
      tokenId: z.string().min(1),
      scopes: z.array(Scope).min(1),
      tokenExpiresAt: Moment.nullable(),
    }),
  }),
  z.object({ type: z.literal('LoginDenied'), data: z.strictObject(settled) }),
])
export type LoginEvent = z.infer<typeof LoginEvent>
