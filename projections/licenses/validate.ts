import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { firstByKey } from '../first-by-key.ts'
import { type KnownToken, memberOfToken, uncertainToken } from '../tokens/queries.ts'
import {
  deviceOfLicense,
  entitlementsOfKeyType,
  licenseOfKey,
  overridesOfCustomer,
  uncertainLicense,
} from './joins.ts'
import { type EntitlingColumns, entitlingFrom } from './rows.ts'
import type { KeyLookupResult } from './runtime.ts'

/** A validate: the token that asks, and the key and device that it asks about. */
type ValidateLookupParams = { tokenHash: string; productId: string; keyHash: string; deviceId: string }

/** The token as far as it is known, and what the key stands for in its tenant. */
type ValidateLookupResult = { token: KnownToken | undefined; result: KeyLookupResult }

export type FindForValidate = (question: ValidateLookupParams) => Promise<ValidateLookupResult>

type Row = {
  token: KnownToken['token'] | null
  tenant_status: KnownToken['tenantStatus']
  plan: KnownToken['plan']
  member_role: KnownToken['memberRole']
  token_uncertain: boolean
  revalidate_after_seconds: number | null
  current: boolean | null
  revoked_at: string | null
  expires_at: string | null
  on_expiry: IssuedLicense['onExpiry']
  seated: boolean
  uncertain: boolean
} & EntitlingColumns

/**
 * Answers validates, far the most frequent question: who asks and what about in one query, no more columns than a
 * verdict needs, and questions of one moment together. As every look-up it remembers nothing.
 */
export function createValidateLookup(db: Pool): FindForValidate {
  return coalesce(async (questions) => {
    const [first, ...others] = questions
    if (!first) return []
    return others.length === 0 ? [await lookUpOne(db, first)] : lookUpMany(db, questions)
  })
}

/** What is asked at a quiet moment is asked alone, and planned without lists: that takes half of the time. */
async function lookUpOne(db: Pool, question: ValidateLookupParams): Promise<ValidateLookupResult> {
  const { tokenHash, productId, keyHash, deviceId } = question
  const values = [tokenHash, productId, keyHash, deviceId]
  const { rows } = await db.query<Row>({ name: 'standing-of-one', text: lookupOfOne, values })
  const [row] = rows
  if (!row) throw new Error('a question has no row of its own')
  return resultFrom(row, row, productId)
}

async function lookUpMany(
  db: Pool,
  questions: readonly ValidateLookupParams[],
): Promise<ValidateLookupResult[]> {
  const firstOf = firstByKey(questions, tokenAndProductKey)
  const firsts = [...new Set(firstOf)]
  const { rows } = await db.query<Row>({
    name: 'standing-lookup',
    text: lookup,
    values: [
      firsts,
      firsts.map((leader) => questions[leader]?.tokenHash),
      firsts.map((leader) => questions[leader]?.productId),
      firstOf,
      questions.map(({ keyHash }) => keyHash),
      questions.map(({ deviceId }) => deviceId),
    ],
  })
  return questions.flatMap(({ productId }, index) => {
    const row = rows[index]
    const leading = rows[firstOf[index] ?? index]
    return row && leading ? [resultFrom(row, leading, productId)] : []
  })
}

/** @param leading the row that tells of the token and the product */
const resultFrom = (row: Row, leading: Row, productId: string): ValidateLookupResult => ({
  token: tokenIn(leading),
  result: keyResultFrom(row, productId, leading.revalidate_after_seconds),
})

/** Token and product are looked up once for all that share them. A hash holds no blank. */
const tokenAndProductKey = ({ tokenHash, productId }: ValidateLookupParams): string =>
  `${tokenHash} ${productId}`

/** The token `t`, what decides about it, and the product `p` that is asked about. */
const tokenAndProduct = `
  t.state as token, n.status as tenant_status, n.plan, m.role as member_role, ${uncertainToken} as token_uncertain,
  p.revalidate_after_seconds`

/** The key, its license, and the device of a question `q`, as far as a verdict needs them. */
const keyAndDevice = `
  k.current, l.revoked_at, l.expires_at, l.on_expiry,
  ${entitlementsOfKeyType},
  ${overridesOfCustomer},
  d.status is not distinct from 'active' as seated,
  ${uncertainLicense}`

const lookupOfOne = `
  select ${tokenAndProduct}, ${keyAndDevice}
  from (select) one
  left join tokens t on t.token_hash = $1
  left join tenants n on n.tenant_id = t.tenant_id
  ${memberOfToken}
  left join products p on p.tenant_id = t.tenant_id and p.product_id = $2
  cross join lateral (
    select t.tenant_id, $2::text as product_id, $3::text as key_hash, $4::text as device_id
  ) q
  ${licenseOfKey}
  ${deviceOfLicense}`

/** What was found for the first question of several is told in its row alone. */
const lookup = `
  with led as materialized (
    select a.leader, a.product_id, t.tenant_id, ${tokenAndProduct}
    from unnest($1::bigint[], $2::text[], $3::text[]) as a (leader, token_hash, product_id)
    left join tokens t on t.token_hash = a.token_hash
    left join tenants n on n.tenant_id = t.tenant_id
    ${memberOfToken}
    left join products p on p.tenant_id = t.tenant_id and p.product_id = a.product_id
  )
  select
    told.token, told.tenant_status, told.plan, told.member_role, told.token_uncertain, told.revalidate_after_seconds,
    ${keyAndDevice}
  from (
    select led.tenant_id, led.product_id, u.key_hash, u.device_id, u.ordinal
    from unnest($4::bigint[], $5::text[], $6::text[]) with ordinality as u (leader, key_hash, device_id, ordinal)
    left join led using (leader)
  ) q
  left join led told on told.leader = q.ordinal - 1
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
  return token ? { token, tenantStatus, plan, memberRole, uncertain } : undefined
}

function keyResultFrom(row: Row, productId: string, revalidateAfterSeconds: number | null): KeyLookupResult {
  const { current } = row
  if (revalidateAfterSeconds === null) return { found: 'no product' }
  if (current === null) return { found: 'no license', revalidateAfterSeconds }
  if (!current) return { found: 'old key', revalidateAfterSeconds }
  return {
    found: 'license',
    revalidateAfterSeconds,
    license: { productId, revokedAt: row.revoked_at, expiresAt: row.expires_at, onExpiry: row.on_expiry },
    ...entitlingFrom(row),
    seated: row.seated,
    uncertain: row.uncertain,
  }
}
