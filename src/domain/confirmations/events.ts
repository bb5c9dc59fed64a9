import { z } from 'zod'
import { Moment, SealedSource, Slug } from '../values.ts'

const Hash = z.string().regex(/^[0-9a-f]{64}$/)

/** A person: a member in a dashboard session, or an operator on the host. A token cannot approve or deny. */
const Person = z.string().regex(/^(member|operator):.+$/)

/** Where a request came from, as shown to the approver. */
const Client = z.strictObject({
  /** null where the request came over no network, and for a person who was erased. */
  from: SealedSource.nullable(),
  userAgent: z.string().nullable(),
  /** The address in clear, in events from before it was sealed. */
  address: z.string().optional(),
})

/**
 * The request that needs an approval. Its query and body may hold secrets, so the vault keeps them sealed
 * under the confirmation's id. The event holds only the hash over all of it.
 */
export const GatedRequest = z.strictObject({
  confirmationId: z.string().min(1),
  tenantId: Slug,
  tokenId: z.string().min(1),
  operation: z.string().min(1),
  method: z.string().min(1),
  path: z.string().min(1),
  parameters: z.record(z.string(), z.string()),
  /** SHA-256 of the RFC 8785 form of method, path template, path parameters, query and body. */
  requestHash: Hash,
  /**
   * SHA-256 of what the operation would act on, as it was at the time of the request. It shows whether that
   * has changed since.
   */
  stateHash: Hash,
  client: Client,
  /** The id of the request: the correlation id of everything that follows from it. */
  requestId: z.string().min(1),
  expiresAt: Moment,
})
export type GatedRequest = z.infer<typeof GatedRequest>

/** `refused`: the rules no longer allowed the operation when it was run; the reason is the refusal's code. */
export const Outcome = z.enum(['done', 'refused'])
export type Outcome = z.infer<typeof Outcome>

/** Everything a `confirmation-<id>` stream may hold. A recorded shape is never edited: add a new type. */
export const ConfirmationEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ConfirmationRequested'), data: GatedRequest.extend({ at: Moment }) }),
  z.object({ type: z.literal('ConfirmationApproved'), data: z.strictObject({ by: Person, at: Moment }) }),
  z.object({ type: z.literal('ConfirmationDenied'), data: z.strictObject({ by: Person, at: Moment }) }),
  /** An approval that was withdrawn before it was used. */
  z.object({ type: z.literal('ConfirmationWithdrawn'), data: z.strictObject({ by: Person, at: Moment }) }),
  /** A member who may approve it was notified by mail. */
  z.object({
    type: z.literal('ApproverMailed'),
    data: z.strictObject({ memberId: z.string().min(1), at: Moment }),
  }),
  /** It was not decided in time, or the approval was not used in time. */
  z.object({ type: z.literal('ConfirmationExpired'), data: z.strictObject({ at: Moment }) }),
  z.object({ type: z.literal('ConfirmationConsumed'), data: z.strictObject({ at: Moment }) }),
  z.object({
    type: z.literal('ConfirmationExecuted'),
    data: z.strictObject({ outcome: Outcome, reason: z.string().nullable(), at: Moment }),
  }),
])
export type ConfirmationEvent = z.infer<typeof ConfirmationEvent>

/** How long a confirmation can be approved or denied, where the tenant has not chosen another time; also the shortest one. */
export const shortestLifetimeSeconds = 600

export const longestLifetimeSeconds = 86_400
