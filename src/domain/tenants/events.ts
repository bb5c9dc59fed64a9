import { z } from 'zod'
import { longestLifetimeSeconds, shortestLifetimeSeconds } from '../confirmations/events.ts'
import { Moment, Slug, text } from '../values.ts'

export const Plan = z.enum(['free', 'team', 'unlimited'])
export type Plan = z.infer<typeof Plan>

/** The name of a workspace, as a person may write it. */
export const TenantName = text(200)

/** A key that identifies a tenant's callers: its SHA-256, and a shortened form for display. */
const clientKey = { keyHash: z.string().regex(/^[0-9a-f]{64}$/), displayKey: z.string().min(1), at: Moment }

/**
 * It ships inside apps and can be shown again, so the vault holds it sealed, under the id of its operation.
 */
const SdkKey = z.strictObject({ ...clientKey, operationId: z.string().min(1) })

/** Everything a `tenant-<id>` stream may hold. A recorded shape is never edited: add a new type. */
export const TenantEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('TenantCreated'),
    data: z.strictObject({ tenantId: Slug, name: z.string().min(1), plan: Plan, at: Moment }),
  }),
  z.object({
    type: z.literal('TenantSuspended'),
    data: z.strictObject({ reason: z.string().nullable(), at: Moment }),
  }),
  z.object({ type: z.literal('TenantReinstated'), data: z.strictObject({ at: Moment }) }),
  z.object({
    type: z.literal('TenantClosed'),
    data: z.strictObject({ reason: z.string().nullable(), at: Moment }),
  }),
  /** The name that the vendor chose, also when it is the one that the workspace already had. */
  z.object({
    type: z.literal('TenantRenamed'),
    data: z.strictObject({ name: z.string().min(1), at: Moment }),
  }),
  /**
   * Whether a member other than the requester has to approve dangerous requests. Before the first such event:
   * no.
   */
  z.object({
    type: z.literal('ApprovalRuleChanged'),
    data: z.strictObject({ anotherMember: z.boolean(), at: Moment }),
  }),
  /** How long a request can be approved or denied. Before the first such event: ten minutes. */
  z.object({
    type: z.literal('ConfirmationLifetimeChanged'),
    data: z.strictObject({
      seconds: z.int().min(shortestLifetimeSeconds).max(longestLifetimeSeconds),
      at: Moment,
    }),
  }),
  /** A member no longer needs the first steps on the home page. */
  z.object({ type: z.literal('OnboardingDismissed'), data: z.strictObject({ at: Moment }) }),
  /** Licenses are sold without a connected provider: the vendor's own server issues them. */
  z.object({ type: z.literal('SellingElsewhereChosen'), data: z.strictObject({ at: Moment }) }),
  /** Whether licenses belong to the customer with their holder's address. Before the first such event: yes. */
  z.object({
    type: z.literal('CustomersByAddressChanged'),
    data: z.strictObject({ isOn: z.boolean(), at: Moment }),
  }),
  /** Whether members other than owners sign in only at a provider. Before the first such event: no. */
  z.object({
    type: z.literal('SignInRuleChanged'),
    data: z.strictObject({ providersOnly: z.boolean(), at: Moment }),
  }),
  z.object({ type: z.literal('SdkKeyIssued'), data: SdkKey }),
  z.object({ type: z.literal('SdkKeyRotated'), data: SdkKey }),
  z.object({ type: z.literal('CheckoutKeyIssued'), data: z.strictObject(clientKey) }),
  z.object({ type: z.literal('CheckoutKeyRotated'), data: z.strictObject(clientKey) }),
])
export type TenantEvent = z.infer<typeof TenantEvent>
