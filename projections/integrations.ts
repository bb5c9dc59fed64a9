import type { Pool } from 'pg'
import { integrations, type KnownIntegration } from '../src/domain/integrations/integration.ts'
import type { Provider } from '../src/domain/integrations/provider.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const documents = defineDocuments(evolvedBy(integrations), {
  table: 'integrations',
  begun: (integration) => (integration.status === 'absent' ? undefined : integration),
  columns: {
    tenantId: 'text not null',
    provider: 'text not null',
  },
  constraints: ['unique (tenant_id, provider)'],
  indexes: {
    integrations_of_account: "((state->>'accountId')) where provider = 'stripe'",
  },
})

export const integrationsProjector = projectorOf(documents)

export async function findIntegration(
  db: Pool,
  tenantId: string,
  provider: Provider,
): Promise<KnownIntegration | undefined> {
  const { rows } = await db.query<{ state: KnownIntegration }>({
    name: 'find-integration',
    text: 'select state from integrations where tenant_id = $1 and provider = $2',
    values: [tenantId, provider],
  })
  return rows[0]?.state
}

/** Every integration that the tenant has connected or begun to connect. */
export async function listIntegrations(db: Pool, tenantId: string): Promise<KnownIntegration[]> {
  const { rows } = await db.query<{ state: KnownIntegration }>(
    'select state from integrations where tenant_id = $1',
    [tenantId],
  )
  return rows.map(({ state }) => state)
}

/** The providers with at least one connected tenant. */
export async function listConnectedProviders(db: Pool): Promise<Provider[]> {
  const { rows } = await db.query<{ provider: Provider }>(
    "select distinct provider from integrations where state->>'status' = 'connected' order by provider",
  )
  return rows.map(({ provider }) => provider)
}

export type PricedProduct = { productId: string; prices: Record<string, string> }

/** The Stripe price ids of a tenant's key types, by key type id; products without prices are left out. */
export async function listPricedProducts(db: Pool, tenantId: string): Promise<PricedProduct[]> {
  const { rows } = await db.query<{ product_id: string; prices: Record<string, string> }>(
    `select product_id, jsonb_object_agg(key_type->>'keyTypeId', key_type->'price'->>'priceId') as prices
     from products, jsonb_array_elements(state->'keyTypes') as key_type
     where tenant_id = $1 and jsonb_typeof(key_type->'price') = 'object'
     group by product_id order by product_id`,
    [tenantId],
  )
  return rows.map(({ product_id, prices }) => ({ productId: product_id, prices }))
}

/** Finds the integration of a Stripe account, of any tenant. */
export async function findIntegrationOfAccount(
  db: Pool,
  accountId: string,
): Promise<KnownIntegration | undefined> {
  const { rows } = await db.query<{ state: KnownIntegration }>({
    name: 'find-integration-of-account',
    text: "select state from integrations where provider = 'stripe' and state->>'accountId' = $1",
    values: [accountId],
  })
  return rows[0]?.state
}
