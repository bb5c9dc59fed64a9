import type { FastifyRequest } from 'fastify'
import type { KnownClient } from '../../../projections/clients.ts'
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

/** What authentication and rate limits of apps need. */
export type ClientAuthority = Ports<'findClient' | 'now' | 'tokenUse'> & { clientLimits: ClientLimits }

type ProductOfTenant = { tenantId: string; productId: string }

/** Looks up tenant, key and product, and authenticates the app. @throws Problem 401, 403, 404, 429 */
export async function admitClient(authority: ClientAuthority, request: FastifyRequest): Promise<Client> {
  const keyHash = sdkKeyHashIn(request)
  const named = productNamed(request)
  const known = await authority.findClient({ ...named, now: momentOf(authority) })
  return admitClientAs(authority, request, named, keyHash, known)
}

/** @returns the tenant and product in the path. @throws Problem 404 for a malformed tenant id */
export function productNamed(request: FastifyRequest): ProductOfTenant {
  const { tenantId, productId } = request.params as Record<keyof ProductOfTenant, string>
  if (!isSlug(tenantId)) throw notFound('tenant')
  // A malformed product id is looked up as one that no product has.
  return { tenantId, productId: isSlug(productId) ? productId : '' }
}

/** @returns the hash of the SDK key. @throws Problem 401 when it is missing or malformed */
export function sdkKeyHashIn(request: FastifyRequest): string {
  const key = request.headers['x-service-sdk-key']
  if (typeof key !== 'string') throw unauthorized('send the SDK key: X-Service-SDK-Key: <SDK key>')
  const keyHash = tokenHashOf(key, 'sdk')
  if (keyHash === undefined) throw unauthorized('the SDK key is not valid')
  return keyHash
}

/**
 * Makes the app the request's client, if it may call this route now.
 * @param known the result of the lookup by path
 * @throws Problem 401, 403, 404, 429
 */
export async function admitClientAs(
  { clientLimits, tokenUse }: Pick<ClientAuthority, 'clientLimits' | 'tokenUse'>,
  request: FastifyRequest,
  named: ProductOfTenant,
  keyHash: string,
  known: KnownClient | undefined,
): Promise<Client> {
  if (!known) throw notFound('tenant')
  if (known.uncertain) throw unavailable('the state of this tenant cannot be read right now; try again')
  if (known.sdkKeyHash === null || !sameDigest(known.sdkKeyHash, keyHash)) {
    throw unauthorized('the SDK key is not valid for this tenant')
  }
  const waiting = clientLimits.admitted(named.tenantId)
  if (waiting) await waiting
  const { tenantStatus, plan, product, signing } = known
  if (tenantStatus === 'closed') throw new Problem(403, 'forbidden', 'the tenant is closed')
  if (tenantStatus === 'suspended' && request.routeOptions.config.refusedWhileSuspended) {
    throw new Problem(403, 'forbidden', 'the tenant is suspended; it cannot activate licenses')
  }
  if (!product) throw notFound('product')
  const client: Client = { ...named, tenantStatus, plan, product, signing }
  request.client = client
  tokenUse.recordSdkKey(named.tenantId)
  return client
}

const unauthorized = (message: string): Problem => new Problem(401, 'unauthorized', message)

/** The client of a route that does not admit its callers itself. */
export function clientIn(request: FastifyRequest): Client {
  if (!request.client) throw unauthorized('this route requires an SDK key')
  return request.client
}

/** The origin in the metadata of every event that the request causes. */
export const clientOriginOf = (request: FastifyRequest): Origin => ({
  requestId: request.id,
  actor: `client:${clientIn(request).productId}`,
})
