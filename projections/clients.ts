import type { Pool } from 'pg'
import { coalesce } from '../src/async/coalesce.ts'
import type { SigningKey } from '../src/domain/signing/events.ts'
import type { Plan } from '../src/domain/tenants/events.ts'
import type { Tenant } from '../src/domain/tenants/tenant.ts'
import { firstByKey } from './document.ts'

/** The tenant and product that an app's call names, and the time of the call. */
export type ClientLookupParams = { tenantId: string; productId: string; now: string }

/** What an app's calls need to know of a product. */
export type ClientProduct = {
  leaseSeconds: number
  freeTierEnabled: boolean
  /** Undefined when never configured, which differs from 0. */
  trialDurationDays: number | undefined
  /** How many components of a device must be equal; null for most of them. */
  componentsAtLeast: number | null
  /** Whether leases name the holder of the license. */
  leaseHolder: boolean
  /** When `freeTierEnabled` or `trialDurationDays` last changed. */
  clientSettingsSince: string
}

/** The tenant of an app's call, with its SDK key, product and signing key. */
export type KnownClient = {
  tenantStatus: Exclude<Tenant['status'], 'absent'>
  plan: Plan
  /** Null before the tenant has an SDK key. */
  sdkKeyHash: string | null
  /** The tenant's stream is parked, so the key may have been rotated. */
  uncertain: boolean
  product: ClientProduct | undefined
  /** The tenant's current signing key; undefined before it has one. */
  signing: Pick<SigningKey, 'kid' | 'secretName' | 'signsFrom'> | undefined
}

export type FindClient = (params: ClientLookupParams) => Promise<KnownClient | undefined>

export type ClientColumns = {
  tenant_status: KnownClient['tenantStatus'] | null
  plan: Plan
  sdk_key_hash: string | null
  tenant_uncertain: boolean
  lease_seconds: number | null
  free_tier_enabled: boolean
  trial_duration_days: number | null
  components_at_least: number | null
  lease_holder: boolean
  client_settings_since: string
  kid: string | null
  secret_name: string
  signs_from: string
}

/** Finds an app's tenant, product and keys; undefined for an unknown tenant. Concurrent lookups share one query. */
export function createClientLookup(db: Pool): FindClient {
  return coalesce(async (lookups) => {
    const { rows } = await db.query<ClientColumns>({
      name: 'client-lookup',
      text: lookupSql,
      values: [
        tenantsToLookUp(lookups),
        lookups.map(({ productId }) => productId),
        lookups.map(({ now }) => now),
      ],
    })
    return clientsFrom(rows, lookups)
  })
}

/**
 * Columns of a tenant, its product and its signing key, for a row `q` of lookup parameters. Most concurrent lookups
 * concern the same product, so only the first one finds it: `q.lookup_tenant_id` is null for the others, and for null
 * Postgres skips the index scan.
 */
export const clientColumns = `
  n.status as tenant_status, n.plan, c.key_hash as sdk_key_hash,
  case when n.stream is not null then exists (select from parked where stream = n.stream) end as tenant_uncertain,
  p.lease_seconds, p.free_tier_enabled, p.trial_duration_days, p.components_at_least, p.lease_holder,
  p.client_settings_since,
  s.kid, s.secret_name, s.signs_from`

export const clientJoins = `
  left join tenants n on n.tenant_id = q.lookup_tenant_id
  left join client_keys c on c.tenant_id = q.lookup_tenant_id and c.kind = 'sdk'
  left join products p on p.tenant_id = q.lookup_tenant_id and p.product_id = q.product_id
  left join lateral (
    select kid, secret_name, signs_from from signing_keys
    where tenant_id = q.lookup_tenant_id and signs_from <= q.now order by signs_from desc limit 1
  ) s on true`

const lookupSql = `
  select ${clientColumns}
  from unnest($1::text[], $2::text[], $3::timestamptz[])
    with ordinality as q (lookup_tenant_id, product_id, now, ordinal) ${clientJoins}
  order by q.ordinal`

type ProductRef = Pick<ClientLookupParams, 'tenantId' | 'productId'>

/** Neither id can contain a dot. */
const productKeyOf = ({ tenantId, productId }: ProductRef): string => `${tenantId}.${productId}`

/** The tenant id for each lookup that is the first with its product; null for the others. */
export const tenantsToLookUp = (lookups: readonly ProductRef[]): (string | null)[] =>
  firstByKey(lookups, productKeyOf).map((first, index) => {
    const params = lookups[index]
    return params && first === index ? params.tenantId : null
  })

/** The client for each lookup, from the row of the first lookup with the same product. */
export function clientsFrom(
  rows: readonly ClientColumns[],
  lookups: readonly ProductRef[],
): (KnownClient | undefined)[] {
  return firstByKey(lookups, productKeyOf).map((first) => {
    const row = rows[first]
    return row && clientFrom(row)
  })
}

function clientFrom(row: ClientColumns): KnownClient | undefined {
  if (row.tenant_status === null) return undefined
  return {
    tenantStatus: row.tenant_status,
    plan: row.plan,
    sdkKeyHash: row.sdk_key_hash,
    uncertain: row.tenant_uncertain,
    product: productFrom(row),
    signing:
      row.kid === null ? undefined : { kid: row.kid, secretName: row.secret_name, signsFrom: row.signs_from },
  }
}

function productFrom(row: ClientColumns): ClientProduct | undefined {
  if (row.lease_seconds === null) return undefined
  return {
    leaseSeconds: row.lease_seconds,
    freeTierEnabled: row.free_tier_enabled,
    trialDurationDays: row.trial_duration_days ?? undefined,
    componentsAtLeast: row.components_at_least,
    leaseHolder: row.lease_holder,
    clientSettingsSince: row.client_settings_since,
  }
}
