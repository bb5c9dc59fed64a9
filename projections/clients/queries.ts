import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { SigningKey } from '../../src/domain/signing/events.ts'
import type { Plan } from '../../src/domain/tenants/events.ts'
import type { Tenant } from '../../src/domain/tenants/tenant.ts'
import { firstByKey } from '../first-by-key.ts'

/** The tenant and product that an app says it belongs to, and the moment of its call. */
export type ClientLookupParams = { tenantId: string; productId: string; now: string }

/** What of a product an app's calls depend on. */
export type ClientProduct = {
  leaseSeconds: number
  freeTierEnabled: boolean
  /** Undefined: never configured, which is not 0. */
  trialDurationDays: number | undefined
  /** Since when the two above have been as they are. */
  clientSettingsSince: string
}

/** What there is under an app's address, and the key by which the tenant's apps are known. */
export type KnownClient = {
  tenantStatus: Exclude<Tenant['status'], 'absent'>
  plan: Plan
  /** Null before the tenant has a key. */
  sdkKeyHash: string | null
  /** An event of the tenant could not be read, so nobody knows whether the key is still good. */
  uncertain: boolean
  product: ClientProduct | undefined
  /** The key that signs for the tenant at the moment; undefined before it has one. */
  signing: Pick<SigningKey, 'kid' | 'secretName' | 'signsFrom'> | undefined
}

export type FindClient = (question: ClientLookupParams) => Promise<KnownClient | undefined>

export type ClientColumns = {
  tenant_status: KnownClient['tenantStatus'] | null
  plan: Plan
  sdk_key_hash: string | null
  tenant_uncertain: boolean
  lease_seconds: number | null
  free_tier_enabled: boolean
  trial_duration_days: number | null
  client_settings_since: string
  kid: string | null
  secret_name: string
  signs_from: string
}

/** Finds what an app's call is about; undefined for no such tenant. Questions of one moment share a query. */
export function createClientLookup(db: Pool): FindClient {
  return coalesce(async (questions) => {
    const { rows } = await db.query<ClientColumns>({
      name: 'client-lookup',
      text: lookup,
      values: [
        tenantsToLookUp(questions),
        questions.map(({ productId }) => productId),
        questions.map(({ now }) => now),
      ],
    })
    return clientsFrom(rows, questions)
  })
}

/**
 * What is asked of a tenant, its product and its signing key, for a row `q` of questions. Most questions of one moment are
 * about the same product, so it is looked up for the first of them alone: `q.lead_tenant_id` is null for the others, and an
 * index is not even entered for null.
 */
export const clientColumns = `
  n.status as tenant_status, n.plan, c.key_hash as sdk_key_hash,
  case when n.stream is not null then exists (select from parked where stream = n.stream) end as tenant_uncertain,
  p.lease_seconds, p.free_tier_enabled, p.trial_duration_days, p.client_settings_since,
  s.kid, s.secret_name, s.signs_from`

export const clientJoins = `
  left join tenants n on n.tenant_id = q.lead_tenant_id
  left join client_keys c on c.tenant_id = q.lead_tenant_id and c.kind = 'sdk'
  left join products p on p.tenant_id = q.lead_tenant_id and p.product_id = q.product_id
  left join lateral (
    select kid, secret_name, signs_from from signing_keys
    where tenant_id = q.lead_tenant_id and signs_from <= q.now order by signs_from desc limit 1
  ) s on true`

const lookup = `
  select ${clientColumns}
  from unnest($1::text[], $2::text[], $3::timestamptz[])
    with ordinality as q (lead_tenant_id, product_id, now, ordinal) ${clientJoins}
  order by q.ordinal`

type Place = Pick<ClientLookupParams, 'tenantId' | 'productId'>

/** Neither id can hold a dot. */
const nameOf = ({ tenantId, productId }: Place): string => `${tenantId}.${productId}`

/** The tenant of each question that is the first about its product; null for the others. */
export const tenantsToLookUp = (questions: readonly Place[]): (string | null)[] =>
  firstByKey(questions, nameOf).map((leader, index) => {
    const question = questions[index]
    return question && leader === index ? question.tenantId : null
  })

/** What each question is about, from the row of the one that led. */
export function clientsFrom(
  rows: readonly ClientColumns[],
  questions: readonly Place[],
): (KnownClient | undefined)[] {
  return firstByKey(questions, nameOf).map((leader) => {
    const row = rows[leader]
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
    clientSettingsSince: row.client_settings_since,
  }
}
