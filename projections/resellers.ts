import type { Pool } from 'pg'
import type { Recorded } from '../src/domain/recorded.ts'
import { evolveRecorded } from '../src/domain/recorded.ts'
import { type Reseller, resellers } from '../src/domain/resellers/reseller.ts'
import { defineDocuments, type Source } from './document.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from './page.ts'
import type { Projector } from './projector.ts'
import { defineTable, type RowIn } from './table.ts'

type Known = Exclude<Reseller, { status: 'absent' }>

const evolveReseller = evolveRecorded(resellers)

/** The licenses that count in a quota have rows of their own: there may be many. */
function withoutTaken(state: Reseller, recorded: Recorded): Reseller {
  const reseller = evolveReseller(state, recorded)
  return reseller.status === 'absent' ? reseller : { ...reseller, taken: {} }
}

const source: Source<Reseller> = { category: 'reseller', absent: { status: 'absent' }, evolve: withoutTaken }

const documents = defineDocuments(source, {
  table: 'resellers',
  begun: (reseller) => (reseller.status === 'absent' ? undefined : reseller),
  columns: {
    resellerId: 'text not null unique',
    tenantId: 'text not null',
    status: 'text not null',
    createdAt: 'timestamptz not null',
  },
  indexes: { resellers_of_tenant: '(tenant_id, created_at desc, reseller_id desc)' },
})

const taken = defineTable(
  'reseller_licenses',
  {
    licenseId: 'text not null',
    resellerId: 'text not null',
    productId: 'text not null',
    keyTypeId: 'text not null',
    takenAt: 'timestamptz not null',
    // It was never minted, and does not count any more.
    returned: 'boolean not null',
  },
  {
    key: ['licenseId'],
    over: 'row',
    indexes: { licenses_of_reseller: '(reseller_id)', licenses_by_taking: '(taken_at) where not returned' },
  },
)

export const resellersProjector: Projector = {
  name: 'resellers',
  tables: [documents, taken],
  async apply(db, entries) {
    const rows = new Map<string, RowIn<typeof taken>>()
    for (const { category, stream, event } of entries) {
      if (category !== 'reseller') continue
      if (event.type !== 'ResellerLicenseTaken' && event.type !== 'ResellerLicenseReturned') continue
      const { at: takenAt, ...counted } = event.data
      const returned = event.type === 'ResellerLicenseReturned'
      const resellerId = stream.slice('reseller-'.length)
      rows.set(counted.licenseId, { ...counted, resellerId, takenAt, returned })
    }
    return [...documents.write(await documents.changed(db, entries)), ...taken.write([...rows.values()])]
  },
}

/** A reseller of a tenant, with the revision of their stream. `taken` is empty: see {@link findForLicense}. */
export type ResellerEntry = { reseller: Known; revision: number }

const entry = 'select state as reseller, revision from resellers'

/** Undefined for an unknown reseller and for one of another tenant. */
export async function findReseller(
  db: Pool,
  tenantId: string,
  resellerId: string,
): Promise<ResellerEntry | undefined> {
  const { rows } = await db.query<ResellerEntry>({
    name: 'find-reseller',
    text: `${entry} where tenant_id = $1 and reseller_id = $2`,
    values: [tenantId, resellerId],
  })
  return rows[0]
}

/** By age; ties by id. */
export async function listResellers(
  db: Pool,
  tenantId: string,
  { after, limit, order }: Keyset,
): Promise<PageOf<ResellerEntry>> {
  const { by, past } = orderOf(order, 'created_at', 'reseller_id')
  const { rows } = await db.query<ResellerEntry>(
    `${entry} where tenant_id = $1 and ($2::timestamptz is null or ${past('$2', '$3')}) order by ${by} limit $4`,
    [tenantId, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  return pageOf(rows, limit, ({ reseller: { createdAt, resellerId } }) => ({ createdAt, id: resellerId }))
}

/** As much of a reseller as decides on one license: whether this one counts already. */
export async function findForLicense(
  db: Pool,
  tenantId: string,
  resellerId: string,
  licenseId: string,
): Promise<ResellerEntry | undefined> {
  const { rows } = await db.query<ResellerEntry & { productId: string | null; keyTypeId: string | null }>({
    name: 'find-reseller-for-license',
    text: `select r.state as reseller, r.revision, l.product_id as "productId", l.key_type_id as "keyTypeId"
           from resellers r
           left join reseller_licenses l on l.reseller_id = r.reseller_id and l.license_id = $3 and not l.returned
           where r.tenant_id = $1 and r.reseller_id = $2`,
    values: [tenantId, resellerId, licenseId],
  })
  const [row] = rows
  if (!row) return undefined
  const { reseller, revision, productId, keyTypeId } = row
  const counted = productId !== null && keyTypeId !== null && { [licenseId]: { productId, keyTypeId } }
  return { reseller: { ...reseller, taken: { ...counted } }, revision }
}

/** A license that counts in a quota, but was not minted. */
export type TakenLicense = { licenseId: string; resellerId: string; tenantId: string }

/** Those that were taken before a moment, and are no license; oldest first. */
export async function listNotMinted(
  db: Pool,
  takenBefore: string,
  { except, most }: { except: readonly string[]; most: number },
): Promise<TakenLicense[]> {
  const { rows } = await db.query<TakenLicense>({
    name: 'reseller-licenses-not-minted',
    text: `select t.license_id as "licenseId", t.reseller_id as "resellerId", r.tenant_id as "tenantId"
           from reseller_licenses t join resellers r using (reseller_id)
           where t.taken_at < $1 and not t.returned and t.license_id <> all($2)
             and not exists (select from licenses l where l.license_id = t.license_id)
           order by t.taken_at, t.license_id limit $3`,
    values: [takenBefore, except, most],
  })
  return rows
}

/**
 * Whether a license is one that a reseller sees: they minted it, and its customer is theirs. A vendor who gives it to another
 * customer takes it from them.
 * @param reseller the parameter with the reseller's id
 * @param license the alias of `licenses`
 */
export const isOfReseller = (reseller: string, license = 'l'): string =>
  `${license}.license_id = any(array(select license_id from reseller_licenses where reseller_id = ${reseller}))
   and ${license}.customer_id = any(array(select customer_id from customers where reseller_id = ${reseller}))`

/** Those of the licenses that a reseller sees. */
export async function licensesSeenBy(
  db: Pool,
  resellerId: string,
  licenseIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ licenseId: string }>({
    name: 'licenses-seen-by-reseller',
    text: `select l.license_id as "licenseId" from licenses l where l.license_id = any($1) and ${isOfReseller('$2')}`,
    values: [licenseIds, resellerId],
  })
  return new Set(rows.map(({ licenseId }) => licenseId))
}
