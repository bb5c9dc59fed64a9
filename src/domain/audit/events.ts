import { z } from 'zod'
import { Moment, Sealed, Slug } from '../values.ts'

/**
 * What a person or API client did with stored data: viewed, searched or exported it, or revealed a secret.
 */
export const AuditAction = z.enum(['viewed', 'searched', 'exported', 'revealed'])
export type AuditAction = z.infer<typeof AuditAction>

/**
 * What was viewed. For a list, a search or an archive, `id` names which one, and never the person that was
 * searched for.
 */
export const AuditTarget = z.strictObject({
  kind: z.enum([
    'license',
    'licenses',
    'customer',
    'customers',
    'sale',
    'sales',
    'device',
    'devices',
    'delivery',
    'deliveries',
    'mail',
    'mails',
    'member',
    'members',
    'evidence',
    'audit',
    'search',
    'sdk-key',
  ]),
  id: z.string().min(1).max(200).nullable(),
})
export type AuditTarget = z.infer<typeof AuditTarget>

/** How a member proves who they are; a link only sets up the others. */
export const SignInMethod = z.enum(['password', 'passkey', 'link', 'provider'])
export type SignInMethod = z.infer<typeof SignInMethod>

/** The address is sealed under the key of the member's person; null once the person was erased. */
const signIn = z.strictObject({
  auditId: z.string().min(1),
  tenantId: Slug,
  memberId: z.string().min(1),
  subjectId: z.string().min(1),
  method: SignInMethod,
  address: Sealed.nullable(),
  at: Moment,
})

/**
 * Everything an `audit-<tenant>.<id>` stream may hold: one view, one sign-in, one test mail or one viewing of the portal. Only older logs hold `RebuildStarted`, from
 * when owners could start rebuilds. A recorded shape is never edited: add a new type.
 */
export const AuditEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('Looked'),
    data: z.strictObject({
      auditId: z.string().min(1),
      tenantId: Slug,
      action: AuditAction,
      target: AuditTarget,
      /**
       * The time or the event whose past state was viewed, as given in the request; null for the present
       * state.
       */
      asOf: z.string().min(1).max(64).nullable(),
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('RebuildStarted'),
    data: z.strictObject({ auditId: z.string().min(1), tenantId: Slug, at: Moment }),
  }),
  z.object({ type: z.literal('SignedIn'), data: signIn }),
  /** A wrong password, code or passkey of a known member; the first one in ten minutes. */
  z.object({ type: z.literal('SignInFailed'), data: signIn }),
  /** Recorded before it is sent. It goes to the member who asked, whose address is not repeated here. */
  z.object({
    type: z.literal('TestMailRequested'),
    data: z.strictObject({
      auditId: z.string().min(1),
      tenantId: Slug,
      productId: Slug,
      memberId: z.string().min(1),
      at: Moment,
    }),
  }),
  /** Recorded before the member, who is the actor, sees the portal as the customer does. */
  z.object({
    type: z.literal('PortalViewed'),
    data: z.strictObject({
      auditId: z.string().min(1),
      tenantId: Slug,
      customerId: z.string().min(1),
      endsAt: Moment,
      at: Moment,
    }),
  }),
])
export type AuditEvent = z.infer<typeof AuditEvent>
