import type { CustomerEntry } from '../../../projections/customers.ts'
import { customers } from '../../domain/customers/customer.ts'
import {
  type EntitlementOverride,
  type ExplainedOverride,
  withoutReasons,
} from '../../domain/customers/overrides.ts'
import { sameJson } from '../../domain/equality.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { requireCustomer } from './customers.ts'

/**
 * Replaces all overrides of a customer; they have an effect from the next validate on. Their reasons are sealed under the
 * key of the customer's person; those for a person who was erased are not kept.
 * @throws Refusal `customer_not_found`, `product_not_found` when an override names a product that the tenant
 *   does not have
 */
export async function replaceOverrides(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now' | 'subjects'>,
  tenantId: string,
  customerId: string,
  input: readonly ExplainedOverride[],
  origin: Origin,
): Promise<CustomerEntry> {
  await requireCustomer(ports, tenantId, customerId)
  const named = new Set(input.flatMap(({ productId }) => productId ?? []))
  const products = await Promise.all([...named].map((id) => ports.findProduct(tenantId, id)))
  if (products.includes(undefined)) throw new Refusal('product_not_found')
  const at = momentOf(ports)
  await ports.execute(
    customers,
    customerId,
    async (before) => {
      if (before.status === 'absent') throw new Refusal('customer_not_found')
      const [present = []] = await openOverrides(ports, tenantId, [before.overrides])
      const wanted = before.erasedAt === null ? input : withoutReasons(input)
      // Each sealing differs, so what is the same is only seen before it.
      if (sameJson(wanted, present)) return undefined
      const overrides = await sealed(ports, tenantId, before.subjectId, wanted)
      return { type: 'ReplaceOverrides', overrides, at }
    },
    causeOf(origin, at),
    { run: origin.run },
  )
  return requireCustomer(ports, tenantId, customerId)
}

async function sealed(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  subjectId: string,
  overrides: readonly ExplainedOverride[],
): Promise<EntitlementOverride[]> {
  const reasons = overrides.map(({ reason }) => reason)
  if (reasons.every((reason) => reason === undefined)) return [...overrides]
  const texts = await subjects.sealReasons(tenantId, subjectId, reasons)
  return withoutReasons(overrides).map((override, at) => {
    const text = texts[at] ?? null
    return text === null ? override : { ...override, sealedReason: { subjectId, text } }
  })
}

/** The overrides of several customers with their reasons, as far as these can be read. */
export async function openOverrides(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  lists: readonly (readonly EntitlementOverride[])[],
): Promise<ExplainedOverride[][]> {
  const reasons = lists.flat().map(({ sealedReason }) => sealedReason ?? null)
  const opened = reasons.some((reason) => reason !== null)
    ? await subjects.openReasons(tenantId, reasons)
    : []
  let next = 0
  return lists.map((overrides) =>
    overrides.map(({ sealedReason: _, ...override }) => {
      const reason = opened[next++] ?? null
      return reason === null ? override : { ...override, reason }
    }),
  )
}
