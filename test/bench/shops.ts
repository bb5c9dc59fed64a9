import type { PresentProduct } from '../../projections/products/queries.ts'
import type { Stores } from '../../src/app/stores.ts'
import { scheduleDelivery } from '../../src/commands/deliveries.ts'
import { mintLicense } from '../../src/commands/licenses/licenses.ts'
import type { Origin } from '../../src/commands/origin.ts'
import { createProduct } from '../../src/commands/products.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { setWebhook } from '../../src/commands/webhooks.ts'
import { defaultKeyType } from '../../src/domain/products/key-type.ts'

const origin: Origin = { requestId: 'req_bench', actor: 'operator:bench' }
const lanes = 64

/** An event of a webhook that is not scheduled yet. */
export type Pending = Parameters<typeof scheduleDelivery>[1]

/** Creates `count` tenants, each with a webhook and a product. */
export function openShops(
  { ports }: Stores,
  name: string,
  url: string,
  count: number,
): Promise<PresentProduct[]> {
  return inLanes(
    Array.from({ length: count }, (_, index) => `${name}-${index}`),
    async (tenantId) => {
      await createTenant(ports, { tenantId, name: tenantId, plan: 'unlimited' }, origin)
      await setWebhook(
        ports,
        tenantId,
        { url, events: undefined, rotateSecret: false },
        `cnf_${tenantId}`,
        origin,
      )
      const about = {
        tenantId,
        plan: 'unlimited',
        productId: 'editor',
        name: 'Editor',
        keyPrefix: 'ED',
      } as const
      return createProduct(ports, { ...about, settings: {}, keyTypes: [defaultKeyType] }, origin)
    },
  )
}

/** Mints a license per product, each with a pending delivery to its tenant's webhook. */
export function makePending({ ports }: Stores, products: readonly PresentProduct[]): Promise<Pending[]> {
  return inLanes(products, async (product) => {
    const { tenantId } = product
    const { licenseId } = (await mintLicense(ports, product, {}, origin)).license
    // Sent as a revocation, with the content of a mint.
    const pending = {
      tenantId,
      licenseId,
      channel: 'webhook',
      endpointId: 'first',
      event: 'license.revoked',
    } as const
    return { ...pending, licenseRevision: 0, sequence: 1 }
  })
}

export const schedule = ({ ports }: Stores, pending: Pending): Promise<void> =>
  scheduleDelivery(ports, pending, origin)

export const scheduleAll = async (stores: Stores, all: readonly Pending[]): Promise<void> =>
  void (await inLanes(all, (pending) => schedule(stores, pending)))

async function inLanes<Item, Made>(
  items: readonly Item[],
  work: (item: Item) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = []
  const left = items.entries()
  const lane = async () => {
    for (const [index, item] of left) made[index] = await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return made
}
