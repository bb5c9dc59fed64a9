import { hash } from 'node:crypto'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import type { LicenseStatus } from '../../src/domain/licenses/status.ts'
import { isOfReseller } from '../resellers.ts'
import { defineTable, type RowIn } from '../table.ts'

/** What licenses are listed by; omitted fields do not narrow the list. */
export type LicenseFilter = {
  productId?: string | undefined
  status?: LicenseStatus | undefined
  /** The person that the license was issued to. */
  subjectId?: string | undefined
  customerId?: string | undefined
  /** That this reseller sees. */
  resellerId?: string | undefined
  /** Created at this time or later. */
  createdAfter?: string | undefined
  /** Created before this time. */
  createdBefore?: string | undefined
  /** Expires before this time, or has expired; not licenses without an expiry. */
  expiresBefore?: string | undefined
  source?: IssuedLicense['source'] | undefined
  test?: boolean | undefined
  /** Whether a notice of sharing is open. */
  shared?: boolean | undefined
  /** All of these pairs. */
  metadata?: Readonly<Record<string, string>> | undefined
}

/** A status as recorded: an expiry counts once its event is recorded, so an index can hold it. */
export const recordedStatus = `
  case
    when revoked_at is not null then 'revoked'
    when suspended_at is not null then 'suspended'
    when ended_at = ends_at then case on_expiry when 'fallback' then 'fallback' else 'expired' end
    else 'active'
  end`

/** A notice of sharing is open: no one has allowed such use, or reminted the license. */
export const isShared = `sharing->>'openSince' is not null`

/** An end for which no event is recorded yet. A renewal sets a new one; a revoked license has none. */
export const isUnrecorded = 'revoked_at is null and ends_at is not null and ended_at is distinct from ends_at'

/**
 * Any of a tenant's licenses may be the few that match, so each filter has an index in the order of the list. The index
 * by age holds the expiry too: licenses that expire later are passed over without reading their rows.
 */
export const filterIndexes = {
  licenses_by_age: '(tenant_id, created_at desc, license_id desc, expires_at)',
  licenses_by_source: '(tenant_id, source, created_at desc, license_id desc)',
  licenses_shared: `(tenant_id, created_at desc, license_id desc) where ${isShared}`,
  licenses_for_tests: '(tenant_id, created_at desc, license_id desc) where test',
  licenses_by_status: `(tenant_id, (${recordedStatus}), created_at desc, license_id desc)`,
  // For counts: of a product by status, and of a key type.
  licenses_by_product_and_status: `(tenant_id, product_id, (${recordedStatus}), key_type_id, created_at)`,
}

/** Each pair of metadata by its hash, since a pair may be longer than an index entry. */
export const licenseMetadata = defineTable(
  'license_metadata',
  {
    tenantId: 'text not null',
    pair: 'text not null',
    createdAt: 'timestamptz not null',
    licenseId: 'text not null',
  },
  {
    key: ['licenseId', 'pair'],
    over: 'nothing',
    indexes: { licenses_by_metadata: '(tenant_id, pair, created_at desc, license_id desc)' },
  },
)

/** How a pair of metadata is named in the index. */
const pairOf = (key: string, value: string): string =>
  hash('sha256', JSON.stringify([key, value])).slice(0, 32)

/** The rows of `license_metadata` for a license. */
export const metadataRows = ({
  tenantId,
  licenseId,
  createdAt,
  metadata,
}: IssuedLicense): RowIn<typeof licenseMetadata>[] =>
  Object.entries(metadata).map(([key, value]) => ({
    tenantId,
    pair: pairOf(key, value),
    createdAt,
    licenseId,
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
): { time: string; id: string; parts: { from: string; where: string }[] } {
  const tenant = values.add(tenantId)
  const all = [`l.tenant_id = ${tenant}`]
  const narrow = (value: unknown, condition: (parameter: string) => string) => {
    if (value !== undefined) all.push(condition(values.add(value)))
  }
  narrow(filter.productId, (id) => `l.product_id = ${id}`)
  narrow(filter.subjectId, (id) => `l.subject_id = ${id}`)
  narrow(filter.customerId, (id) => `l.customer_id = ${id}`)
  narrow(filter.resellerId, (id) => isOfReseller(id))
  narrow(filter.createdAfter, (time) => `l.created_at >= ${time}::timestamptz`)
  narrow(filter.createdBefore, (time) => `l.created_at < ${time}::timestamptz`)
  narrow(filter.expiresBefore, (time) => `l.expires_at < ${time}::timestamptz`)
  narrow(filter.source, (source) => `l.source = ${source}`)
  // A parameter would hide that the index of test licenses applies.
  if (filter.test !== undefined) all.push(filter.test ? 'l.test' : 'not l.test')
  if (filter.shared !== undefined) all.push(`${filter.shared ? '' : 'not '}(l.${isShared})`)
  const [first, ...others] = Object.entries(metadata).map(([key, value]) => values.add(pairOf(key, value)))
  for (const pair of others) {
    all.push(`exists (select from license_metadata o where o.license_id = l.license_id and o.pair = ${pair})`)
  }
  const statuses =
    status === undefined ? [whole] : statusParts(status, () => `${values.add(now)}::timestamptz`)
  const of = (conditions: string[]) => [...all, ...conditions].join(' and ')
  if (first === undefined) {
    const parts = statuses.map(({ from, conditions }) => ({ from: `${from} l`, where: of(conditions) }))
    return { time: 'l.created_at', id: 'l.license_id', parts }
  }
  const parts = statuses.map(({ from, conditions }) => ({
    from: `license_metadata m join ${from} l on l.license_id = m.license_id`,
    where: `m.tenant_id = ${tenant} and m.pair = ${first} and ${of(conditions)}`,
  }))
  return { time: 'm.created_at', id: 'm.license_id', parts }
}

type StatusPart = { from: string; conditions: string[] }
const whole: StatusPart = { from: 'licenses', conditions: [] }

/** The SQL equivalent of `statusAt`: those whose status is recorded, and those whose expiry is not recorded yet. */
function statusParts(status: LicenseStatus, now: () => string): StatusPart[] {
  const recorded = `${recordedStatus} = '${status}'`
  switch (status) {
    case 'revoked':
    case 'suspended':
      return [{ ...whole, conditions: [recorded] }]
    case 'active':
      return [{ ...whole, conditions: [recorded, `(l.ends_at is null or ${now()} < l.ends_at)`] }]
    case 'expired':
    case 'fallback': {
      const isOver = `ends_at <= ${now()}`
      // `offset 0`: always read by the index of unrecorded expiries, of which few are over.
      const due = `(select * from licenses where ${isUnrecorded} and ${isOver} offset 0)`
      const isKind = `l.on_expiry ${status === 'fallback' ? '=' : '<>'} 'fallback'`
      return [
        { ...whole, conditions: [recorded, isOver] },
        { from: due, conditions: ['l.suspended_at is null', isKind] },
      ]
    }
  }
}
