import type { FastifyBaseLogger } from 'fastify'
import type { Entitling } from '../../../projections/licenses/entitlements.ts'
import { entitlementsFor } from '../../../projections/licenses/entitlements.ts'
import type { Origin, Services } from '../../commands/services.ts'
import type { IssuedLicense, LicenseStatus } from '../../domain/license/license.ts'
import { type Lease, signLease } from '../../signing/lease.ts'
import { type ActiveKey, SigningFailed } from '../../signing/signer.ts'
import { Problem } from '../problem.ts'
import type { Client } from './client.ts'
import { activeKeyFor } from './settings.ts'

type Leased = Entitling & { license: Pick<IssuedLicense, 'productId' | 'expiresAt' | 'onExpiry'> }
type Held = { keyHash: string; instanceId: string; status: LicenseStatus }

/** Signs leases of one moment for an app. */
export type LeaseDesk = { lease(leased: Leased, held: Held, now: string): Promise<Lease> }

/**
 * Makes sure that leases can be signed for the client's tenant, before anything is done that needs one.
 * @throws Problem 500 when the tenant's signing key cannot be used
 */
export async function openLeaseDesk(
  services: Services,
  client: Client,
  origin: Origin,
  log: FastifyBaseLogger,
): Promise<LeaseDesk> {
  const { tenantId, productId, product } = client
  const refuse = (err: unknown): never => {
    if (!(err instanceof SigningFailed)) throw err
    log.error({ err, tenant: tenantId, request_id: origin.requestId }, 'lease.signing_failed')
    throw new Problem(500, 'internal', 'tenant not fully configured: its signing key cannot be used')
  }
  const key: ActiveKey = await activeKeyFor(services, client, origin)
  await services.signer.prepare(tenantId, key).catch(refuse)
  return {
    lease(leased, { keyHash, instanceId, status }, now) {
      const { license } = leased
      const { leaseSeconds } = product
      const entitlements = entitlementsFor(status, leased, now)
      const facts = { tenantId, productId, keyHash, instanceId, status, entitlements, license, leaseSeconds }
      return signLease(services.signer, key, facts, now).catch(refuse)
    },
  }
}
