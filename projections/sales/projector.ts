import { itemsOf } from '../../src/domain/sales/items.ts'
import { numbersOfSale } from '../../src/domain/sales/numbers.ts'
import { nextStep, sales } from '../../src/domain/sales/sale.ts'
import { defineDocuments, evolvedBy } from '../document.ts'
import { type SaleCounts, saleCounts, saleDays } from '../insights/sales.ts'
import { partsOfNumbers } from '../licenses/numbers.ts'
import type { Projector } from '../projector.ts'

const documents = defineDocuments(evolvedBy(sales), {
  table: 'sales',
  begun: (sale) => (sale.status === 'absent' ? undefined : sale),
  columns: {
    id: 'text not null unique',
    tenantId: 'text not null',
    provider: 'text not null',
    saleId: 'text not null',
    productId: 'text',
    // Of the first item, and of all items.
    licenseId: 'text not null unique',
    status: 'text not null',
    receivedAt: 'timestamptz not null',
  },
  computed: {
    // Of its order number and of the provider's ids: what they are found by, see number-parts.ts.
    numberParts: ['int[] not null', (sale) => partsOfNumbers(sale.tenantId, numbersOfSale(sale))],
    // null for a sale whose buyer the provider did not name.
    subjectId: ['text', (sale) => sale.customer?.subjectId ?? null],
    // Who paid for a gift.
    giverId: ['text', (sale) => sale.giver?.subjectId ?? null],
    licenseIds: ['text[] not null', (sale) => itemsOf(sale).map(({ licenseId }) => licenseId)],
    open: ['boolean not null', (sale) => nextStep(sale) !== undefined],
  },
  indexes: {
    sales_of_license: 'using gin (license_ids)',
    sales_by_age: '(tenant_id, received_at desc, id desc)',
    sales_by_sale_id: '(tenant_id, lower(sale_id) text_pattern_ops)',
    sales_by_number_part: 'using gin (number_parts)',
    sales_of_subject: '(tenant_id, subject_id)',
    sales_of_giver: '(tenant_id, giver_id) where giver_id is not null',
    sales_of_nobody: '(tenant_id, received_at desc, id desc) where subject_id is null',
    sales_parked: "(tenant_id, received_at desc, id desc) where status = 'parked'",
    // What a reaction goes on with; next to nothing stands in it for long.
    sales_open: '(received_at) where open',
  },
})

export const salesProjector: Projector = {
  name: 'sales',
  tables: [documents, saleDays],
  async apply(db, entries) {
    const counts: SaleCounts[] = []
    const changed = await documents.changed(db, entries, (before, after) => {
      counts.push(...saleCounts(before, after))
    })
    return [...documents.write(changed), ...saleDays.write(counts)]
  },
}
