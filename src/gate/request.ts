import canonicalize from 'canonicalize'
import { z } from 'zod'
import { isId } from '../credentials/id.ts'
import { sameDigest, sha256 } from '../credentials/sha256.ts'
import type { GatedRequest } from '../domain/confirmations/events.ts'
import type { Ports } from '../ports.ts'
import { Effect } from './effects/effect.ts'
import type { RequestInput } from './operation.ts'

/** SHA-256 of the RFC 8785 form, which does not depend on the order of fields. */
export function hashOf(value: unknown): string {
  return sha256(canonicalize(value) ?? 'undefined')
}

/** A hash over everything that determines the effect of a request, without transport details. */
export function requestHashOf(
  { method, path }: { method: string; path: string },
  { parameters, query, body }: RequestInput,
): string {
  return hashOf({ method, path, parameters, query, body })
}

/** A version that keeps another form of the effect loses only the comparison with it. */
const Sealed = z.strictObject({
  query: z.unknown(),
  body: z.unknown(),
  effect: Effect.optional().catch(undefined),
})

const nameOf = (confirmationId: string): string => `confirmation.${confirmationId}`

type Named = Pick<GatedRequest, 'confirmationId' | 'tenantId'>

/**
 * Seals a request, which may hold secrets, before the event that refers to it is appended; with it what it would have
 * changed when it was made.
 */
export async function keepRequest(
  { secrets }: Ports<'secrets'>,
  { tenantId, confirmationId }: Named,
  { query, body }: RequestInput,
  effect: Effect,
): Promise<void> {
  await secrets.keep(tenantId, nameOf(confirmationId), JSON.stringify({ query, body, effect }))
}

/** A stored request, and what it would have changed when it was made; undefined for one of an earlier version. */
type OpenedRequest = RequestInput & { effect: Effect | undefined }

/** The stored request; undefined when it was destroyed, or does not match the recorded hash. */
export async function openRequest(
  { secrets }: Ports<'secrets'>,
  request: GatedRequest,
): Promise<OpenedRequest | undefined> {
  const kept = await secrets.open(request.tenantId, nameOf(request.confirmationId))
  if (kept === undefined) return undefined
  const { query, body, effect } = Sealed.parse(JSON.parse(kept))
  const opened = { parameters: request.parameters, query, body }
  return sameDigest(requestHashOf(request, opened), request.requestHash) ? { ...opened, effect } : undefined
}

/** Destroys a stored request, which may hold secrets, once it can no longer run. */
export function destroyRequest(
  { secrets }: Ports<'secrets'>,
  { tenantId, confirmationId }: Named,
): Promise<void> {
  return secrets.destroy(tenantId, nameOf(confirmationId))
}

/**
 * Whether the requester of a gated operation is a member rather than a token. Recorded requests hold either
 * id in `tokenId`; the prefix distinguishes them.
 */
export const isMember = (requesterId: string): boolean => isId('mem', requesterId)

/** The requester in the form of event metadata. */
export const actorOfRequester = (requesterId: string): string =>
  `${isMember(requesterId) ? 'member' : 'token'}:${requesterId}`
