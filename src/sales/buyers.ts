import { salesNeedingHolder } from '../../projections/sales/holders.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'
import { type Person, unknownPerson } from '../vault/subjects.ts'

/** The buyer, as far as it is known, and whether the license still lacks a holder. */
export type Buyer = Person & {
  needsHolder: boolean
  /** Who paid, if it was a gift; no address after an erasure. */
  gift: { giverEmail: string | null } | null
}

/** The buyers of a tenant's sales, in the order of the sales. */
export async function readBuyers(
  { db, subjects }: Ports<'db' | 'subjects'>,
  tenantId: string,
  sales: readonly KnownSale[],
): Promise<{ sale: KnownSale; buyer: Buyer }[]> {
  const all = sales.flatMap(({ customer, giver }) => [customer, giver ?? null])
  const [people, needing] = await Promise.all([
    subjects.openPeople(tenantId, all),
    salesNeedingHolder(db, tenantId, sales),
  ])
  return sales.map((sale, index) => {
    const [customer, giver] = [people[2 * index], people[2 * index + 1]]
    const gift = sale.giver ? { giverEmail: giver?.email ?? null } : null
    return { sale, buyer: { ...(customer ?? unknownPerson), needsHolder: needing.has(sale.id), gift } }
  })
}

/** As {@link readBuyers}, of one sale. */
export async function readBuyer(ports: Ports<'db' | 'subjects'>, sale: KnownSale): Promise<Buyer> {
  const [found] = await readBuyers(ports, sale.tenantId, [sale])
  return found?.buyer ?? { ...unknownPerson, needsHolder: false, gift: null }
}
