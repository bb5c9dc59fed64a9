import type { Pool } from 'pg'
import type { IssuedLicense } from '../../src/domain/license/license.ts'
import { coalesce } from '../coalesce.ts'
import type { KnownToken } from '../tokens/queries.ts'
import { entitlementsOfKeyType, licenseOfKey, overridesOfCustomer, uncertainLicense } from './joins.ts'
import { type EntitlingColumns, entitlingFrom } from './rows.ts'
import type { Standing } from './runtime.ts'

/** A validate: the token that asks, and the key and device that it asks about. */
type ValidateQuestion = { tokenHash: string; productId: string; keyHash: string; deviceId: string }

/** The token as far as it is known, and what the key stands for in its tenant. */
type ValidateAnswer = { token: KnownToken | undefined; standing: Standing }

export type FindStanding = (question: ValidateQuestion) => Promise<ValidateAnswer>

type Row = {
  token: KnownToken['token'] | null
  tenant_status: KnownToken['tenantStatus']
  plan: KnownToken['plan']
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
export function createStandingLookup(db: Pool): FindStanding {
  return coalesce(async (questions) => {
    const leaders = new Map(questions.toReversed().map((question) => [placeOf(question), question]))
    const { rows } = await db.query<Row>({
      name: 'standing-lookup',
      text: lookup,
      values: [
        questions.map(({ tokenHash }) => tokenHash),
        questions.map(({ productId }) => productId),
        questions.map(({ keyHash }) => keyHash),
        questions.map(({ deviceId }) => deviceId),
        questions.map((question) => leaders.get(placeOf(question)) === question),
      ],
    })
    const led = new Map<string, Led>()
    return questions.flatMap((question, index) => {
      const row = rows[index]
      if (!row) return []
      const place = placeOf(question)
      const known = led.get(place) ?? ledBy(row)
      led.set(place, known)
      const standing = standingFrom(row, question.productId, known.revalidateAfterSeconds)
      return [{ token: known.token, standing }]
    })
  })
}

/** A hash holds no blank. */
const placeOf = ({ tokenHash, productId }: ValidateQuestion): string => `${tokenHash} ${productId}`

/** What is looked up for the first question of a token about a product, and holds for the others. */
type Led = { token: KnownToken | undefined; revalidateAfterSeconds: number | null }

/** Most questions of one moment come with the same token about the same product. */
const lookup = `
  select
    case when q.leads then t.state end as token, n.status as tenant_status, n.plan,
    case when q.leads then exists (select from parked where stream in (t.stream, n.stream)) end as token_uncertain,
    p.revalidate_after_seconds, k.current, l.revoked_at, l.expires_at, l.on_expiry,
    ${entitlementsOfKeyType},
    ${overridesOfCustomer},
    d.status is not distinct from 'active' as seated,
    ${uncertainLicense}
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[])
    with ordinality as q (token_hash, product_id, key_hash, device_id, leads, ordinal)
  left join tokens t on t.token_hash = q.token_hash
  left join tenants n on n.tenant_id = case when q.leads then t.tenant_id end
  left join products p on p.tenant_id = case when q.leads then t.tenant_id end and p.product_id = q.product_id
  ${licenseOfKey('t.tenant_id')}
  left join devices d on d.license_id = l.license_id and d.device_id = q.device_id
  order by q.ordinal`

function ledBy(row: Row): Led {
  const { token, tenant_status: tenantStatus, plan, token_uncertain: uncertain } = row
  return {
    token: token ? { token, tenantStatus, plan, uncertain } : undefined,
    revalidateAfterSeconds: row.revalidate_after_seconds,
  }
}

function standingFrom(row: Row, productId: string, revalidateAfterSeconds: number | null): Standing {
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
