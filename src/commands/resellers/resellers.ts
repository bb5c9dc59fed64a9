import { findReseller, type ResellerEntry } from '../../../projections/resellers.ts'
import { isId } from '../../credentials/id.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Quota } from '../../domain/resellers/events.ts'
import { type ResellerCommand, resellers } from '../../domain/resellers/reseller.ts'
import { noStream } from '../../ledger/execute.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

type ResellerPorts = Ports<'db' | 'execute' | 'findProduct' | 'now'>

/** @throws Refusal `product_not_found`, `key_type_not_found` for a quota of what the vendor does not sell */
export async function createReseller(
  ports: ResellerPorts & Ports<'newId'>,
  tenantId: string,
  { name, quotas }: { name: string; quotas: readonly Quota[] },
  origin: Origin,
): Promise<ResellerEntry> {
  await requireKeyTypes(ports, tenantId, quotas)
  const resellerId = ports.newId('rsl')
  const at = momentOf(ports)
  const command = { type: 'CreateReseller', resellerId, tenantId, name, quotas, at } as const
  const { state } = await ports.execute(resellers, resellerId, command, causeOf(origin, at), {
    loaded: noStream(resellers),
    run: origin.run,
  })
  if (state.status === 'absent') throw new Error('a created reseller is there')
  return { reseller: state, revision: 0 }
}

/**
 * Changes a reseller's name or all of their quotas; what is undefined stays.
 * @throws Refusal `reseller_not_found`, `reseller_closed`, `reseller_quota_below_used`, `product_not_found`, `key_type_not_found`
 */
export async function changeReseller(
  ports: ResellerPorts,
  tenantId: string,
  resellerId: string,
  change: { name?: string | undefined; quotas?: readonly Quota[] | undefined },
  origin: Origin,
): Promise<ResellerEntry> {
  const { reseller } = await requireReseller(ports, tenantId, resellerId)
  const had = new Set(reseller.quotas.map(keyOf))
  // A key type that was deleted since keeps its quota.
  const added = (change.quotas ?? []).filter((quota) => !had.has(keyOf(quota)))
  await requireKeyTypes(ports, tenantId, added)
  return execute(
    ports,
    tenantId,
    resellerId,
    { type: 'ChangeReseller', ...change, at: momentOf(ports) },
    origin,
  )
}

const keyOf = ({ productId, keyTypeId }: Quota): string => `${productId}/${keyTypeId}`

/**
 * Closes a reseller for good: their tokens and members reach nothing any more. Their customers and licenses stay.
 * @throws Refusal `reseller_not_found`
 */
export async function closeReseller(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  resellerId: string,
  origin: Origin,
): Promise<ResellerEntry> {
  await requireReseller(ports, tenantId, resellerId)
  return execute(ports, tenantId, resellerId, { type: 'CloseReseller', at: momentOf(ports) }, origin)
}

/** @throws Refusal `reseller_not_found`, also for another tenant's reseller and for a malformed id */
export async function requireReseller(
  { db }: Ports<'db'>,
  tenantId: string,
  resellerId: string,
): Promise<ResellerEntry> {
  const entry = isId('rsl', resellerId) ? await findReseller(db, tenantId, resellerId) : undefined
  if (!entry) throw new Refusal('reseller_not_found')
  return entry
}

async function execute(
  ports: Ports<'db' | 'execute'>,
  tenantId: string,
  resellerId: string,
  command: ResellerCommand,
  origin: Origin,
): Promise<ResellerEntry> {
  const read = async () => {
    const { reseller: state, revision } = await requireReseller(ports, tenantId, resellerId)
    return { state, revision }
  }
  await ports.execute(resellers, resellerId, command, causeOf(origin, command.at), { read, run: origin.run })
  return requireReseller(ports, tenantId, resellerId)
}

async function requireKeyTypes(
  { findProduct }: Ports<'findProduct'>,
  tenantId: string,
  quotas: readonly Quota[],
): Promise<void> {
  for (const { productId, keyTypeId } of quotas) {
    const product = await findProduct(tenantId, productId)
    if (!product) throw new Refusal('product_not_found')
    if (!findKeyType(product, keyTypeId)) throw new Refusal('key_type_not_found')
  }
}
