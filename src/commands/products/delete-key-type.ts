import { hasLiveLicense } from '../../../projections/licenses/count.ts'
import { products } from '../../domain/products/product.ts'
import { productKey } from '../../domain/streams.ts'
import type { Ports } from '../../ports.ts'
import { catchUpWithLog } from '../cross-stream/catch-up.ts'
import type { KeyTypeRef } from '../cross-stream/key-type-use.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

/**
 * Deletes a key type that no live license references; ended licenses keep its entitlements. A repetition for
 * the same cause changes nothing, even if a key type with the same id was added since. From the count of the
 * licenses until the read models show the deletion, no license is issued for the key type.
 * @throws Refusal `product_not_found`, `key_type_not_found`, `key_type_is_last`, `key_type_in_use`
 */
export function deleteKeyType(
  services: Ports<'db' | 'execute' | 'keyTypes' | 'ledger' | 'now' | 'untilVisible'>,
  keyType: KeyTypeRef,
  origin: Origin,
): Promise<void> {
  return services.keyTypes.alone(keyType, async (proof) => {
    await catchUpWithLog(services)
    await deleteUnused(services, keyType, origin, proof)
  })
}

async function deleteUnused(
  services: Ports<'db' | 'execute' | 'now'>,
  keyType: KeyTypeRef,
  origin: Origin,
  proof: () => Promise<void>,
): Promise<void> {
  const at = momentOf(services)
  const { tenantId, productId, keyTypeId } = keyType
  await services.execute(
    products,
    productKey(tenantId, productId),
    async () => {
      const inUse = await hasLiveLicense(services.db, keyType, at)
      return { type: 'DeleteKeyType', keyTypeId, inUse, at }
    },
    causeOf(origin, at),
    { run: { resumed: true, sharedId: 'causationId' }, proof },
  )
}
