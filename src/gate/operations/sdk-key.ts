import { z } from 'zod'
import { readMaskedKeys } from '../../../projections/client-keys.ts'
import { findTenant } from '../../../projections/tenants.ts'
import { revealSdkKey as reveal, rotateSdkKey as rotate } from '../../commands/client-keys.ts'
import { quoted } from '../../domain/plain-text.ts'
import type { Ports } from '../../ports.ts'
import { gatedOperation } from '../operation.ts'

export const revealSdkKey = gatedOperation({
  name: 'sdk-key.reveal',
  title: 'Show the SDK key',
  method: 'GET',
  path: '/v1/sdk-key',
  scope: 'integrations:read',
  input: z.object({}),
  async check() {
    // Every tenant can have an SDK key.
  },
  async describe(ports, tenantId) {
    const { sdkKey, tenant } = await present(ports, tenantId)
    return {
      summary: sdkKey ? `Show the SDK key ${sdkKey.displayKey} of ${tenant}` : firstKeyOf(tenant),
      state: { issuedAt: sdkKey?.issuedAt ?? null },
    }
  },
  async facts({ db }, tenantId) {
    const { sdkKey } = await readMaskedKeys(db, tenantId)
    return sdkKey ? [{ what: 'sdk_key_shown', displayKey: sdkKey.displayKey }] : []
  },
  run: (ports, tenantId, _, { id, origin }) => reveal(ports, tenantId, id, origin),
})

export const rotateSdkKey = gatedOperation({
  name: 'sdk-key.rotate',
  title: 'Rotate the SDK key',
  method: 'POST',
  path: '/v1/sdk-key/rotate',
  scope: 'integrations:write',
  input: z.object({ body: z.strictObject({}).nullish() }),
  async check() {
    // Every tenant can have an SDK key.
  },
  async describe(ports, tenantId) {
    const { sdkKey, tenant } = await present(ports, tenantId)
    return {
      summary: sdkKey ? `Rotate the SDK key ${sdkKey.displayKey} of ${tenant}` : firstKeyOf(tenant),
      state: { issuedAt: sdkKey?.issuedAt ?? null },
    }
  },
  run: (ports, tenantId, _, { id, origin }) => rotate(ports, tenantId, id, origin),
})

const firstKeyOf = (tenant: string): string => `Create the first SDK key of ${tenant} and show it`

async function present(ports: Ports<'db'>, tenantId: string) {
  const [{ sdkKey }, tenant] = await Promise.all([
    readMaskedKeys(ports.db, tenantId),
    findTenant(ports.db, tenantId),
  ])
  return { sdkKey, tenant: quoted(tenant?.name ?? tenantId) }
}
