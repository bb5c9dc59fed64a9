import { z } from 'zod'
import { Scope } from '../tokens/events.ts'
import { Moment, Slug } from '../values.ts'

const settled = {
  tenantId: Slug,
  memberId: z.string().min(1),
  /** The name that the API client gives itself; it is not verified. */
  clientName: z.string(),
  scopesAsked: z.array(Scope),
  at: Moment,
}

/**
 * Everything a `login-<hash>` stream may hold: a member's decision about the authorization of an API client.
 * The hash is of its device code. The request itself is not recorded, since anyone can send one and most are
 * never decided.
 */
export const LoginEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('LoginApproved'),
    data: z.strictObject({
      ...settled,
      /**
       * The id of the token that is created when the client fetches it. It is fixed here, so that only one
       * token is created.
       */
      tokenId: z.string().min(1),
      scopes: z.array(Scope).min(1),
      tokenExpiresAt: Moment.nullable(),
    }),
  }),
  z.object({ type: z.literal('LoginDenied'), data: z.strictObject(settled) }),
])
export type LoginEvent = z.infer<typeof LoginEvent>
