import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { KeyHashes } from '../../src/domain/licenses/keys.ts'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { isRoleId } from '../../src/domain/members/roles.ts'
import { heldRole } from '../custom-roles.ts'
import { firstByKey } from '../document.ts'
import { type KnownToken, memberOfToken, uncertainToken } from '../tokens/queries.ts'
import {
  deviceOfLicense,
  entitlementsOfKeyType,
  licenseOfKey,
  overridesOfCustomer,
  type SeatedByKey,
  seatedByKey,
  uncertainLicense,
} from './joins.ts'
import { type EntitlingColumns, entitlingFrom } from './rows.ts'
import type { KeyLookupResult } from './runtime.ts'

/** A validate: the hashes of its token and of its license key, the product and the device. */
type ValidateLookupParams = KeyHashes & { tokenHash: string; productId: string; deviceId: string }

/** The token, undefined when it is unknown, and what was found for the license key in the token's tenant. */
type ValidateLookupResult = { token: KnownToken | undefined; result: KeyLookupResult }

export type FindForValidate = (params: ValidateLookupParams) => Promise<ValidateLookupResult>

type Row = KeyAndDeviceRow & {
  token: KnownToken['token'] | null
  tenant_status: KnownToken['tenantStatus']
  plan: KnownToken['plan']
  member_role: KnownToken['memberRole']
  token_uncertain: boolean
  revalidate_after_seconds: number | null
}

/** The columns of {@link keyAndDevice}; null without a license. */
export type KeyAndDeviceRow = {
  current: boolean | null
  license_id: string
  revoked_at: string | null
  suspended_at: string | null
  expires_at: string | null
  grace_seconds: number | null
  on_expiry: IssuedLicense['onExpiry']
  updates_until: string | null
  floating: IssuedLicense['floating']
  fence: number | null
  file_ends_at: string | null
  uncertain: boolean
} & SeatedByKey &
  EntitlingColumns

/**
 * Finds everything for a validate, by far the most frequent call, in one query: the token, the product and the license,
 * with only the columns that a verdict needs. Concurrent lookups share one query; nothing is cached.
 */
export function createValidateLookup(db: Pool): FindForValidate {
  return coalesce(async (lookups) => {
    const [first, ...others] = lookups
    if (!first) return []
    return others.length === 0 ? [await lookUpOne(db, first)] : lookUpMany(db, lookups)
  })
}

/**
 * A single lookup has a statement without arrays, which takes half the time. It does not look custom roles up, which would cost every
 * validate a fifth; the token of a member who has one is looked up by the other statement.
 */
async function lookUpOne(db: Pool, params: ValidateLookupParams): Promise<ValidateLookupResult> {
  const { tokenHash, productId, keyHash, keyedHash, deviceId } = params
  const values = [tokenHash, productId, keyHash, keyedHash, deviceId]
  const { rows } = await db.query<Row>({ name: 'validate-one', text: lookupOneSql, values })
  const [row] = rows
  if (!row) throw new Error('the validate lookup returned no row')
  if (typeof row.member_role === 'string' && isRoleId(row.member_role)) {
    const [found] = await lookUpMany(db, [params])
    if (found) return found
  }
  return resultFrom(row, row, productId)
}

async function lookUpMany(
  db: Pool,
  lookups: readonly ValidateLookupParams[],
): Promise<ValidateLookupResult[]> {
  const firstOf = firstByKey(lookups, tokenAndProductKey)
  const firsts = [...new Set(firstOf)]
  const { rows } = await db.query<Row>({
    name: 'validate-many',
    text: lookupSql,
    values: [
      firsts,
      firsts.map((first) => lookups[first]?.tokenHash),
      firsts.map((first) => lookups[first]?.productId),
      firstOf,
      lookups.map(({ keyHash }) => keyHash),
      lookups.map(({ keyedHash }) => keyedHash),
      lookups.map(({ deviceId }) => deviceId),
    ],
  })
  return lookups.flatMap(({ productId }, index) => {
    const row = rows[index]
    const first = rows[firstOf[index] ?? index]
    return row && first ? [resultFrom(row, first, productId)] : []
  })
}

/** @param first the row with the columns of the token and the product */
const resultFrom = (row: Row, first: Row, productId: string): ValidateLookupResult => ({
  token: tokenIn(first),
  result: keyResultFrom(row, productId, first.revalidate_after_seconds),
})

/** Lookups with the same token and product share their rows. A hash has no space. */
const tokenAndProductKey = ({ tokenHash, productId }: ValidateLookupParams): string =>
  `${tokenHash} ${productId}`

/** Columns of the token `t`, its tenant `n`, its member `m` and the product `p`. */
const tokenAndProduct = (role: string): string => `
  t.state as token, n.status as tenant_status, n.plan, ${role} as member_role, ${uncertainToken} as token_uncertain,
  p.revalidate_after_seconds`

/** Columns of the key `k`, its license `l` and the device `d` that a verdict needs. */
export const keyAndDevice = `
  k.current, k.license_id, l.revoked_at, l.suspended_at, l.expires_at, l.grace_seconds, l.on_expiry, l.updates_until,
  l.floating, d.fence, d.file_ends_at,
  ${entitlementsOfKeyType},
  ${overridesOfCustomer},
  ${seatedByKey},
  ${uncertainLicense}`

const lookupOneSql = `
  select ${tokenAndProduct('m.role')}, ${keyAndDevice}
  from (select) one
  left join tokens t on t.token_hash = $1
  left join tenants n on n.tenant_id = t.tenant_id
  ${memberOfToken}
  left join products p on p.tenant_id = t.tenant_id and p.product_id = $2
  cross join lateral (
    select t.tenant_id, $2::text as product_id, $3::text as key_hash, $4::text as keyed_hash, $5::text as device_id
  ) q
  ${licenseOfKey}
  ${deviceOfLicense}`

/** Of the lookups with the same token and product, only the first one's row has their columns. */
const lookupSql = `
  with firsts as materialized (
    select a.first, a.product_id, t.tenant_id, ${tokenAndProduct(heldRole)}
    from unnest($1::bigint[], $2::text[], $3::text[]) as a (first, token_hash, product_id)
    left join tokens t on t.token_hash = a.token_hash
    left join tenants n on n.tenant_id = t.tenant_id
    ${memberOfToken}
    left join products p on p.tenant_id = t.tenant_id and p.product_id = a.product_id
  )
  select
    f.token, f.tenant_status, f.plan, f.member_role, f.token_uncertain, f.revalidate_after_seconds,
    ${keyAndDevice}
  from (
    select firsts.tenant_id, firsts.product_id, u.key_hash, u.keyed_hash, u.device_id, u.ordinal
    from unnest($4::bigint[], $5::text[], $6::text[], $7::text[])
      with ordinality as u (first, key_hash, keyed_hash, device_id, ordinal)
    left join firsts using (first)
  ) q
  left join firsts f on f.first = q.ordinal - 1
  ${licenseOfKey}
  ${deviceOfLicense}
  order by q.ordinal`

function tokenIn(row: Row): KnownToken | undefined {
  const {
    token,
    tenant_status: tenantStatus,
    plan,
    member_role: memberRole,
    token_uncertain: uncertain,
  } = row
  // What a validate requires is no scope of a reseller's token, so whether the reseller is open decides nothing.
  return token ? { token, tenantStatus, plan, memberRole, resellerStatus: 'open', uncertain } : undefined
}

export function keyResultFrom(
  row: KeyAndDeviceRow,
  productId: string,
  revalidateAfterSeconds: number | null,
): KeyLookupResult {
  const { current } = row
  if (revalidateAfterSeconds === null) return { kind: 'no product' }
  if (current === null) return { kind: 'no license', revalidateAfterSeconds }
  if (!current) return { kind: 'old key', licenseId: row.license_id, revalidateAfterSeconds }
  return {
    kind: 'license',
    licenseId: row.license_id,
    revalidateAfterSeconds,
    license: {
      productId,
      revokedAt: row.revoked_at,
      suspendedAt: row.suspended_at,
      expiresAt: row.expires_at,
      graceSeconds: row.grace_seconds,
      onExpiry: row.on_expiry,
      updatesUntil: row.updates_until,
      floating: row.floating,
    },
    ...entitlingFrom(row),
    seated: row.seated,
    seatedByAnother: row.seated_by_another,
    withoutSeat: row.without_seat,
    fence: row.fence,
    fileEndsAt: row.file_ends_at,
    uncertain: row.uncertain,
  }
}
