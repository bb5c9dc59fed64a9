import { countLicensesOfKeyType } from '../../projections/licenses/queries.ts'
import { absentProduct, decideProduct, evolveProduct, type Product } from '../domain/product/product.ts'
import { Refusal } from '../domain/refusal.ts'
import { loadFromLog } from '../ledger/load.ts'
import { productStream } from '../ledger/streams.ts'
import { catchUpWithLog } from './catch-up.ts'
import type { KeyTypeRef } from './key-type-use.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

type Known = { product: Product; alreadyDone: boolean; inUse: boolean }

/**
 * Deletes a key type that no live license references; the ended ones keep the entitlements that it had. Run again
 * for the same cause it changes nothing, even if a key type of the same id was added since. Nobody issues a license
 * against it from before the licenses are counted until the deletion is in the read models.
 * @throws Refusal `product_not_found`, `key_type_not_found`, `key_type_is_last`, `key_type_in_use`
 */
export function deleteKeyType(services: Services, keyType: KeyTypeRef, origin: Origin): Promise<void> {
  return services.keyTypes.alone(keyType, async (proof) => {
    await catchUpWithLog(services)
    await deleteUnused(services, keyType, origin, proof)
  })
}

async function deleteUnused(
  services: Services,
  keyType: KeyTypeRef,
  origin: Origin,
  proof: () => Promise<void>,
): Promise<void> {
  const at = momentOf(services)
  const cause = causeOf(origin, at)
  const stream = productStream(keyType.tenantId, keyType.productId)
  const begun: Known = { product: absentProduct, alreadyDone: false, inUse: false }
  await services.handle<Known, 'product'>({
    stream,
    load: async () => {
      const { live } = await countLicensesOfKeyType(services.db, keyType, at)
      return loadFromLog(services.ledger, stream, { ...begun, inUse: live > 0 }, (known, recorded) => {
        if (recorded.category !== 'product') return known
        const { event, metadata } = recorded
        const done = event.type === 'KeyTypeDeleted' && metadata.causationId === cause.causationId
        return {
          ...known,
          product: evolveProduct(known.product, event),
          alreadyDone: known.alreadyDone || done,
        }
      })
    },
    decide: ({ product, alreadyDone, inUse }) => {
      if (alreadyDone) return []
      const events = decideProduct(product, { type: 'DeleteKeyType', keyTypeId: keyType.keyTypeId, at })
      if (inUse) throw new Refusal('key_type_in_use')
      return events
    },
    cause,
    proof,
  })
}
