import type { ClientBase } from 'pg'
import { absentProduct, evolveProduct, type Product } from '../../src/domain/product/product.ts'
import { type Document, type DocumentModel, projectDocuments } from '../document.ts'
import type { Projector } from '../projector.ts'

const products: DocumentModel<Product> = {
  table: 'products',
  category: 'product',
  absent: absentProduct,
  fold: (product, { category, event }) => (category === 'product' ? evolveProduct(product, event) : product),
  columns: (product) =>
    product.status === 'absent'
      ? {}
      : {
          tenant_id: product.tenantId,
          product_id: product.productId,
          revalidate_after_seconds: product.settings.revalidateAfterSeconds,
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
      created_at timestamptz not null,
      unique (tenant_id, product_id)
    );
    create index products_by_age on products (tenant_id, created_at desc, product_id desc);
    -- What a validate needs of a key type, beside the product so that it need not be taken apart each time.
    create table key_types (
      tenant_id text not null,
      product_id text not null,
      key_type_id text not null,
      entitlements text[] not null,
      fallback_entitlements text[] not null,
      primary key (tenant_id, product_id, key_type_id)
    )`,
  async apply(db, entries) {
    await writeKeyTypes(db, await projectDocuments(db, products, entries))
  },
}

async function writeKeyTypes(db: ClientBase, changed: readonly Document<Product>[]): Promise<void> {
  const rows = changed.flatMap(({ state }) =>
    state.status === 'absent'
      ? []
      : state.keyTypes.map((keyType) => ({
          tenant_id: state.tenantId,
          product_id: state.productId,
          key_type_id: keyType.keyTypeId,
          entitlements: keyType.entitlements,
          fallback_entitlements: keyType.fallbackEntitlements,
        })),
  )
  if (rows.length === 0) return
  await db.query(
    `insert into key_types select * from json_populate_recordset(null::key_types, $1)
     on conflict (tenant_id, product_id, key_type_id) do update
     set entitlements = excluded.entitlements, fallback_entitlements = excluded.fallback_entitlements`,
    [JSON.stringify(rows)],
  )
}
