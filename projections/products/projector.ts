import { keyPeriodOf, type Product, products } from '../../src/domain/products/product.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import {
  changedDocuments,
  type Document,
  type DocumentModel,
  evolvedBy,
  writesOfDocuments,
} from '../document.ts'
import type { Projector } from '../projector.ts'
import { type Statement, writesOf } from '../statements.ts'

const model: DocumentModel<Product> = {
  table: 'products',
  ...evolvedBy(products),
  columns: (product) =>
    product.status === 'absent'
      ? {}
      : {
          tenant_id: product.tenantId,
          product_id: product.productId,
          revalidate_after_seconds: product.settings.revalidateAfterSeconds,
          lease_seconds: product.settings.leaseSeconds,
          free_tier_enabled: product.settings.freeTierEnabled,
          key_recovery: product.settings.keyRecovery,
          key_period: keyPeriodOf(product),
          trial_duration_days: product.settings.trialDurationDays ?? null,
          client_settings_since: product.clientSettingsSince,
          created_at: product.createdAt,
        },
}

export const productsProjector: Projector = {
  name: 'products',
  tables: ['products', 'key_types'],
  ddl: `
    create table products (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      tenant_id text not null,
      product_id text not null,
      revalidate_after_seconds int not null,
      lease_seconds int not null,
      free_tier_enabled boolean not null,
      trial_duration_days int,
      key_recovery boolean not null,
      -- Keys that were kept in an earlier period are left over.
      key_period int not null,
      client_settings_since timestamptz not null,
      created_at timestamptz not null,
      unique (tenant_id, product_id)
    );
    create index products_by_age on products (tenant_id, created_at desc, product_id desc);
    -- What a validate needs of a key type, beside the product so that it need not be taken apart each time. A
    -- deleted one stays: the ended licenses that were issued against it keep what they had.
    create table key_types (
      tenant_id text not null,
      product_id text not null,
      key_type_id text not null,
      entitlements text[] not null,
      fallback_entitlements text[] not null,
      primary key (tenant_id, product_id, key_type_id)
    )`,
  async apply(db, entries) {
    const changed = await changedDocuments(db, model, entries)
    return [...writesOfDocuments(model, changed), ...writesOfKeyTypes(changed, entries)]
  },
}

type KeyTypeRow = {
  tenant_id: string
  product_id: string
  key_type_id: string
  entitlements: string[]
  fallback_entitlements: string[]
}

/** Uses the events, since a product's state no longer has a key type that was deleted in the same page. */
function writesOfKeyTypes(changed: readonly Document<Product>[], entries: readonly Recorded[]): Statement[] {
  const states = new Map(changed.map(({ stream, state }) => [stream, state]))
  const latest = new Map<string, KeyTypeRow>()
  for (const { category, event, stream } of entries) {
    if (category !== 'product' || (event.type !== 'KeyTypeAdded' && event.type !== 'KeyTypeChanged')) continue
    const state = states.get(stream)
    if (!state || state.status === 'absent') continue
    const { keyTypeId, entitlements, fallbackEntitlements } = event.data.keyType
    latest.set(`${stream}.${keyTypeId}`, {
      tenant_id: state.tenantId,
      product_id: state.productId,
      key_type_id: keyTypeId,
      entitlements,
      fallback_entitlements: fallbackEntitlements,
    })
  }
  return writesOf(
    'write-key-types',
    `insert into key_types select * from json_populate_recordset(null::key_types, $1)
     on conflict (tenant_id, product_id, key_type_id) do update
     set entitlements = excluded.entitlements, fallback_entitlements = excluded.fallback_entitlements`,
    [...latest.values()],
  )
}
