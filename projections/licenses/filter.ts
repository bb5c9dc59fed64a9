import { sha256 } from '../../src/credentials/sha256.ts'
import type { IssuedLicense, LicenseStatus } from '../../src/domain/licenses/license.ts'

/** What licenses are listed by; omitted fields do not narrow the list. */
export type LicenseFilter = {
  productId?: string | undefined
  status?: LicenseStatus | undefined
  /** The person that the license was issued to. */
  subjectId?: string | undefined
  customerId?: string | undefined
  /** Created at this time or later. */
  createdAfter?: string | undefined
  /** Created before this time. */
  createdBefore?: string | undefined
  /** Expires before this time, or has expired; not licenses without an expiry. */
  expiresBefore?: string | undefined
  source?: IssuedLicense['source'] | undefined
  test?: boolean | undefined
  /** All of these pairs. */
  metadata?: Readonly<Record<string, string>> | undefined
}

/** A status as recorded: an expiry counts once its event is recorded, so an index can hold it. */
const recordedStatus = `
  case
    when revoked_at is not null then 'revoked'
    when suspended_at is not null then 'suspended'
    when ended_at = expires_at then case on_expiry when 'fallback' then 'fallback' else 'expired' end
    else 'active'
  end`

/** An expiry for which no event is recorded yet. A renewal sets a new one; a revoked license has none. */
export const isUnrecorded =
  'revoked_at is null and expires_at is not null and ended_at is distinct from expires_at'

/**
 * Few of a tenant's licenses may have a status, and few of its licenses may match the other columns. So the index by
 * age holds these columns too: what does not match is passed over without reading its row.
 */
export const filterDdl = `
  create index licenses_by_age on licenses
    (tenant_id, created_at desc, license_id desc, expires_at, source, test);
  create index licenses_by_status on licenses
    (tenant_id, (${recordedStatus}), created_at desc, license_id desc);
  -- Each pair of metadata by its hash, since a pair may be longer than an index entry.
  create table license_metadata (
    tenant_id text not null,
    pair text not null,
    created_at timestamptz not null,
    license_id text not null,
    primary key (license_id, pair)
  );
  create index licenses_by_metadata on license_metadata (tenant_id, pair, created_at desc, license_id desc)`

/** How a pair of metadata is named in the index. */
const pairOf = (key: string, value: string): string => sha256(JSON.stringify([key, value])).slice(0, 32)

/** The rows of `license_metadata` for a license. */
export const metadataRows = ({ tenantId, licenseId, createdAt, metadata }: IssuedLicense): object[] =>
  Object.entries(metadata).map(([key, value]) => ({
    tenant_id: tenantId,
    pair: pairOf(key, value),
    created_at: createdAt,
    license_id: licenseId,
  }))

/** The values of a statement. */
export class Values {
  readonly all: unknown[] = []

  /** @returns the parameter that stands for the value */
  add(value: unknown): string {
    this.all.push(value)
    return `$${this.all.length}`
  }
}

/**
 * The SQL of a filter over `licenses l`: each license that matches is in exactly one of the parts.
 * @param now the moment at which statuses are computed
 */
export function partsMatching(
  tenantId: string,
  { status, metadata = {}, ...filter }: LicenseFilter,
  now: string,
  values: Values,
): { from: string; time: string; id: string; parts: string[] } {
  const tenant = values.add(tenantId)
  const all = [`l.tenant_id = ${tenant}`]
  const narrow = (value: unknown, condition: (parameter: string) => string) => {
    if (value !== undefined) all.push(condition(values.add(value)))
  }
  narrow(filter.productId, (id) => `l.product_id = ${id}`)
  narrow(filter.subjectId, (id) => `l.subject_id = ${id}`)
  narrow(filter.customerId, (id) => `l.customer_id = ${id}`)
  narrow(filter.createdAfter, (time) => `l.created_at >= ${time}::timestamptz`)
  narrow(filter.createdBefore, (time) => `l.created_at < ${time}::timestamptz`)
  narrow(filter.expiresBefore, (time) => `l.expires_at < ${time}::timestamptz`)
  narrow(filter.source, (source) => `l.source = ${source}`)
  narrow(filter.test, (test) => `l.test = ${test}::boolean`)
  const [first, ...others] = Object.entries(metadata).map(([key, value]) => values.add(pairOf(key, value)))
  for (const pair of others) {
    all.push(`exists (select from license_metadata o where o.license_id = l.license_id and o.pair = ${pair})`)
  }
  const statuses = status === undefined ? [] : statusParts(status, () => `${values.add(now)}::timestamptz`)
  const parts = statuses.length === 0 ? [all] : statuses.map((condition) => [...all, condition])
  const where = parts.map((conditions) => conditions.join(' and '))
  if (first === undefined) {
    return { from: 'licenses l', time: 'l.created_at', id: 'l.license_id', parts: where }
  }
  return {
    from: 'license_metadata m join licenses l on l.license_id = m.license_id',
    time: 'm.created_at',
    id: 'm.license_id',
    parts: where.map((conditions) => `m.tenant_id = ${tenant} and m.pair = ${first} and ${conditions}`),
  }
}

/** The SQL equivalent of `statusAt`: those whose status is recorded, and those whose expiry is not recorded yet. */
function statusParts(status: LicenseStatus, now: () => string): string[] {
  const recorded = `${recordedStatus} = '${status}'`
  switch (status) {
    case 'revoked':
    case 'suspended':
      return [recorded]
    case 'active':
      return [`${recorded} and (l.expires_at is null or ${now()} < l.expires_at)`]
    case 'expired':
    case 'fallback': {
      const isKind = `l.on_expiry ${status === 'fallback' ? '=' : '<>'} 'fallback'`
      const isOver = `l.expires_at <= ${now()}`
      return [`${recorded} and ${isOver}`, `${isUnrecorded} and l.suspended_at is null and ${isOver} and ${isKind}`]
    }
  }
}
