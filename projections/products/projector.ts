import { keyPeriodOf, type Product, products } from '../../src/domain/products/product.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import { type Document, defineDocuments, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'
import { defineTable, type RowIn } from '../table.ts'
import { productReleases } from './releases.ts'

const documents = defineDocuments(evolvedBy(products), {
  table: 'products',
  begun: (product) => (product.status === 'absent' ? undefined : product),
  columns: {
    tenantId: 'text not null',
    productId: 'text not null',
    clientSettingsSince: 'timestamptz not null',
    createdAt: 'timestamptz not null',
  },
  computed: {
    revalidateAfterSeconds: ['int not null', (product) => product.settings.revalidateAfterSeconds],
    leaseSeconds: ['int not null', (product) => product.settings.leaseSeconds],
    freeTierEnabled: ['boolean not null', (product) => product.settings.freeTierEnabled],
    trialDurationDays: ['int', (product) => product.settings.trialDurationDays ?? null],
    componentsAtLeast: ['int', (product) => product.settings.deviceMatch?.atLeast ?? null],
    showSeatHolders: ['boolean not null', (product) => product.settings.showSeatHolders ?? false],
    leaseHolder: ['boolean not null', (product) => product.settings.leaseHolder ?? false],
    deviceMails: ['text[]', (product) => product.settings.deviceMails ?? null],
    keySharing: ['json', (product) => product.settings.keySharing ?? null],
    expiringDays: ['int[]', (product) => product.settings.expiringNotice?.days ?? null],
    keyRecovery: ['boolean not null', (product) => product.settings.keyRecovery],
    // Keys that were kept in an earlier period are left over.
    keyPeriod: ['int not null', (product) => keyPeriodOf(product)],
  },
  constraints: ['unique (tenant_id, product_id)'],
  indexes: {
    products_by_age: '(tenant_id, created_at desc, product_id desc)',
    products_with_sharing_rules: '(tenant_id, product_id) where key_sharing is not null',
    products_with_notices: '(tenant_id, product_id) where expiring_days is not null',
  },
})

/**
 * What a validate needs of a key type, beside the product so that it need not be taken apart each time. A deleted one stays:
 * the ended licenses that were issued against it keep what they had.
 */
const keyTypes = defineTable(
  'key_types',
  {
    tenantId: 'text not null',
    productId: 'text not null',
    keyTypeId: 'text not null',
    entitlements: 'text[] not null',
    fallbackEntitlements: 'text[] not null',
    // By name; null for none.
    entitlementValues: 'json',
    // What is metered; null for nothing.
    meters: 'json',
  },
  { key: ['tenantId', 'productId', 'keyTypeId'], over: 'row' },
)

export const productsProjector: Projector = {
  name: 'products',
  tables: [documents, keyTypes, productReleases],
  async apply(db, entries) {
    const changed = await documents.changed(db, entries)
    return [
      ...documents.write(changed),
      ...keyTypes.write(keyTypesIn(changed, entries)),
      ...productReleases.write(releasesIn(changed, entries)),
    ]
  },
}

/** Uses the events, since a product's state no longer has a key type that was deleted in the same page. */
function keyTypesIn(changed: readonly Document<Product>[], entries: readonly Recorded[]) {
  const states = new Map(changed.map(({ stream, state }) => [stream, state]))
  const latest = new Map<string, RowIn<typeof keyTypes>>()
  for (const { category, event, stream } of entries) {
    if (category !== 'product' || (event.type !== 'KeyTypeAdded' && event.type !== 'KeyTypeChanged')) continue
    const state = states.get(stream)
    if (!state || state.status === 'absent') continue
    const { tenantId, productId } = state
    const { keyTypeId, entitlements, fallbackEntitlements } = event.data.keyType
    const { entitlementValues = null, meters = null } = event.data.keyType
    latest.set(`${stream}.${keyTypeId}`, {
      tenantId,
      productId,
      keyTypeId,
      entitlements,
      fallbackEntitlements,
      entitlementValues,
      meters,
    })
  }
  return [...latest.values()]
}

/** Each list replaces the former one. */
function releasesIn(changed: readonly Document<Product>[], entries: readonly Recorded[]) {
  const states = new Map(changed.map(({ stream, state }) => [stream, state]))
  const latest = new Map<string, RowIn<typeof productReleases>>()
  for (const { category, event, stream, revision } of entries) {
    if (category !== 'product' || event.type !== 'ReleasesListed') continue
    const state = states.get(stream)
    if (!state || state.status === 'absent') continue
    const { tenantId, productId } = state
    latest.set(stream, { tenantId, productId, revision, releases: event.data.releases })
  }
  return [...latest.values()]
}
