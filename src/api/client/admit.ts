import type { FastifyRequest } from 'fastify'
import type { KnownClient } from '../../../projections/clients/queries.ts'
import { momentOf, type Origin } from '../../commands/origin.ts'
import { sameDigest } from '../../credentials/sha256.ts'
import { tokenHashOf } from '../../credentials/token.ts'
import { isSlug } from '../../domain/values.ts'
import { notFound, Problem, unavailable } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import type { Client } from './client.ts'
import type { ClientLimits } from './limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    client: Client | undefined
  }
}

/** What decides over which apps may ask, and how often. */
export type ClientAuthority = Ports<'findClient' | 'now'> & { clientLimits: ClientLimits }

type Place = { tenantId: string; productId: string }

/** Looks up tenant, key and product, and lets the app in. @throws Problem 401, 403, 404, 429 */
export async function admitClient(authority: ClientAuthority, request: FastifyRequest): Promise<Client> {
  const keyHash = sdkKeyHashIn(request)
  const place = placeOf(request)
  const known = await authority.findClient({ ...place, now: momentOf(authority) })
  return admitClientAs(authority, request, place, keyHash, known)
}

/** @returns the tenant and product of the path. @throws Problem 404 for what cannot be the name of either */
export function placeOf(request: FastifyRequest): Place {
  const { tenantId, productId } = request.params as Record<keyof Place, string>
  if (!isSlug(tenantId)) throw notFound('tenant')
  // An id that none can have is looked up as one that none has.
  return { tenantId, productId: isSlug(productId) ? productId : '' }
}

/** @returns the hash of the SDK key. @throws Problem 401 when there is none, or its form or checksum is wrong */
export function sdkKeyHashIn(request: FastifyRequest): string {
  const key = request.headers['x-service-sdk-key']
  if (typeof key !== 'string') throw unauthorized('send the SDK key: X-Service-SDK-Key: <SDK key>')
  const keyHash = tokenHashOf(key, 'sdk')
  if (keyHash === undefined) throw unauthorized('the SDK key is not valid')
  return keyHash
}

/**
 * Makes the app the request's client, if it may ask this route now.
 * @param known what a look-up by the path has found
 * @throws Problem 401, 403, 404, 429
 */
export async function admitClientAs(
  { clientLimits }: Pick<ClientAuthority, 'clientLimits'>,
  request: FastifyRequest,
  place: Place,
  keyHash: string,
  known: KnownClient | undefined,
): Promise<Client> {
  if (!known) throw notFound('tenant')
  if (known.uncertain) throw unavailable('the state of this tenant cannot be read right now; try again')
  if (known.sdkKeyHash === null || !sameDigest(known.sdkKeyHash, keyHash)) {
    throw unauthorized('the SDK key is not valid for this tenant')
  }
  const waiting = clientLimits.admitted(place.tenantId)
  if (waiting) await waiting
  const { tenantStatus, plan, product, signing } = known
  if (tenantStatus === 'closed') throw new Problem(403, 'forbidden', 'the tenant is closed')
  if (tenantStatus === 'suspended' && request.routeOptions.config.issues) {
    throw new Problem(403, 'forbidden', 'the tenant is suspended; it cannot activate licenses')
  }
  if (!product) throw notFound('product')
  const client: Client = { ...place, tenantStatus, plan, product, signing }
  request.client = client
  return client
}

const unauthorized = (message: string): Problem => new Problem(401, 'unauthorized', message)

/** The app of a client route that does not admit its callers itself. */
export function clientIn(request: FastifyRequest): Client {
  if (!request.client) throw unauthorized('this route requires an SDK key')
  return request.client
}

/** Stands in the metadata of every event that the request causes. */
export const clientOriginOf = (request: FastifyRequest): Origin => ({
  requestId: request.id,
  actor: `client:${clientIn(request).productId}`,
})
