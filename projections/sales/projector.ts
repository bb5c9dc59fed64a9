import { itemsOf } from '../../src/domain/sales/items.ts'
import { numbersOfSale } from '../../src/domain/sales/numbers.ts'
import { nextStep, type Sale, sales } from '../../src/domain/sales/sale.ts'
import { changedDocuments, type DocumentModel, evolvedBy, writesOfDocuments } from '../document.ts'
import { saleCounts, saleInsightsDdl, writesOfSaleCounts } from '../insights/sales.ts'
import type { CountRow } from '../insights/summed.ts'
import type { Projector } from '../projector.ts'
import { partsOfNumbers } from '../search/number-parts.ts'

const model: DocumentModel<Sale> = {
  table: 'sales',
  ...evolvedBy(sales),
  columns: (sale) =>
    sale.status === 'absent'
      ? {}
      : {
          id: sale.id,
          tenant_id: sale.tenantId,
          provider: sale.provider,
          sale_id: sale.saleId,
          number_parts: partsOfNumbers(sale.tenantId, numbersOfSale(sale)),
          subject_id: sale.customer?.subjectId ?? null,
          giver_id: sale.giver?.subjectId ?? null,
          product_id: sale.productId,
          license_id: sale.licenseId,
          license_ids: itemsOf(sale).map(({ licenseId }) => licenseId),
          status: sale.status,
          open: nextStep(sale) !== undefined,
          received_at: sale.receivedAt,
        },
}

export const salesProjector: Projector = {
  name: 'sales',
  tables: ['sales', 'sale_days'],
  ddl: `
    create table sales (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      id text not null unique,
      tenant_id text not null,
      provider text not null,
      sale_id text not null,
      -- Of its order number and of the provider's ids: what they are found by, see number-parts.ts.
      number_parts int[] not null,
      -- null for a sale whose buyer the provider did not name.
      subject_id text,
      -- Who paid for a gift.
      giver_id text,
      product_id text,
      -- Of the first item, and of all items.
      license_id text not null unique,
      license_ids text[] not null,
      status text not null,
      open boolean not null,
      received_at timestamptz not null
    );
    create index sales_of_license on sales using gin (license_ids);
    create index sales_by_age on sales (tenant_id, received_at desc, id desc);
    create index sales_by_sale_id on sales (tenant_id, lower(sale_id) text_pattern_ops);
    create index sales_by_number_part on sales using gin (number_parts);
    create index sales_of_subject on sales (tenant_id, subject_id);
    create index sales_of_giver on sales (tenant_id, giver_id) where giver_id is not null;
    create index sales_of_nobody on sales (tenant_id, received_at desc, id desc) where subject_id is null;
    create index sales_parked on sales (tenant_id, received_at desc, id desc) where status = 'parked';
    -- What a reaction goes on with; next to nothing stands in it for long.
    create index sales_open on sales (received_at) where open;
    ${saleInsightsDdl}`,
  async apply(db, entries) {
    const counts: CountRow[] = []
    const changed = await changedDocuments(db, model, entries, (before, after) => {
      counts.push(...saleCounts(before, after))
    })
    return [...writesOfDocuments(model, changed), ...writesOfSaleCounts(counts)]
  },
}
