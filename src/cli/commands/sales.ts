import { z } from 'zod'
import { findSale, listSales } from '../../../projections/sales/queries.ts'
import { findTenant } from '../../../projections/tenants.ts'
import { saleDetailView, saleView } from '../../api/management/sales/schemas.ts'
import { withStores } from '../../app/with-stores.ts'
import { recordAudit } from '../../commands/audit.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'
import type { Ports } from '../../ports.ts'
import { readBuyer, readBuyers } from '../../sales/buyers.ts'
import { readSaleHistory } from '../../sales/history.ts'
import { replaySale } from '../../sales/parked.ts'
import { fields, print, table } from '../../terminal/output.ts'
import { hostOptionsIn } from '../host-form.ts'

/** Fits on one or two screens; API clients page through `GET /v1/sales`. */
const maxListed = 100

/** `keyledger sales list --tenant <id>`: the latest sales of a tenant, newest first. */
export function listOnHost(_: readonly string[], given: Record<string, unknown>): Promise<void> {
  const options = hostOptionsIn(
    { parked: z.boolean().default(false), needsHolder: z.boolean().default(false) },
    given,
  )
  return withStores(async ({ ports }, origin) => {
    if (!(await findTenant(ports.db, options.tenant))) throw new Refusal('tenant_not_found')
    const target = { kind: 'sales', id: null } as const
    await recordAudit(ports, options.tenant, { action: 'viewed', target }, origin)
    const filter = {
      ...(options.parked && { status: 'parked' as const }),
      ...(options.needsHolder && { needs: 'holder' as const }),
    }
    const page = { after: undefined, limit: maxListed }
    const { items } = await listSales(ports.db, options.tenant, filter, page)
    const bought = await readBuyers(ports, options.tenant, items)
    const views = bought.map(({ sale, buyer }) => saleView(sale, buyer))
    print(options, views, () =>
      views.length === 0
        ? ['No sales match.']
        : table([
            ['SALE', 'PROVIDER', 'STATUS', 'PRODUCT', 'LICENSE', 'RECEIVED', 'NOTE'],
            ...views.map((sale) => [
              sale.id,
              sale.provider,
              sale.status,
              sale.productId ?? '-',
              sale.licenseId ?? '-',
              sale.receivedAt,
              noteOn(sale),
            ]),
          ]),
    )
  })
}

/** `keyledger sales show <id> --tenant <id>`: a sale with its payments and history. */
export function showOnHost([id = '']: readonly string[], given: Record<string, unknown>): Promise<void> {
  const options = hostOptionsIn({}, given)
  return withStores(async ({ ports }, origin) => {
    const sale = await requireSale(ports, options.tenant, id)
    const target = { kind: 'sale', id } as const
    await recordAudit(ports, sale.tenantId, { action: 'viewed', target }, origin)
    const view = await viewOf(ports, sale)
    print(options, view, () => fields(view))
  })
}

/** `keyledger sales replay <id> --tenant <id>`: replays a parked sale once the reason is fixed. */
export function replayOnHost([id = '']: readonly string[], given: Record<string, unknown>): Promise<void> {
  const options = hostOptionsIn({}, given)
  return withStores(async ({ ports }, origin) => {
    const { tenantId } = await requireSale(ports, options.tenant, id)
    const sale = await replaySale(ports, tenantId, id, origin)
    const view = await viewOf(ports, sale)
    print(options, view, () => [`Sale ${id} now has the license ${sale.licenseId}.`])
  })
}

/** Why the sale is parked, or its other notes for the vendor. */
function noteOn({ parked, needsHolder, notices }: ReturnType<typeof saleView>): string {
  if (parked) return `parked, ${parked.reason}: ${parked.detail}`
  return [needsHolder && 'needs a holder', ...notices.map(({ code }) => code)].filter(Boolean).join(', ')
}

async function requireSale(ports: Ports<'db'>, tenantId: string, id: string): Promise<KnownSale> {
  const sale = await findSale(ports.db, tenantId, id)
  if (!sale) throw new Refusal('sale_not_found')
  return sale
}

async function viewOf(ports: Ports<'db' | 'ledger' | 'subjects'>, sale: KnownSale) {
  return saleDetailView(sale, await readBuyer(ports, sale), await readSaleHistory(ports, sale))
}
