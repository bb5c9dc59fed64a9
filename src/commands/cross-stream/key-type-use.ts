import type { Share, SharedLocks } from '../../../projections/database/shared-locks.ts'
import { absentProduct, evolveProduct, findKeyType, type Product } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import { productStream } from '../../domain/streams.ts'
import type { Ledger } from '../../ledger/ledger.ts'

export type KeyTypeRef = { tenantId: string; productId: string; keyTypeId: string }

/**
 * What keeps a key type in place while licenses are issued against it: a license and its key type stand in two streams,
 * so no revision proves both.
 */
export type KeyTypeUse = {
  /**
   * From here until its share is left, the key type is not deleted.
   * @throws Refusal `key_type_not_found` when it is deleted already
   */
  enter(keyType: KeyTypeRef): Promise<Share>
  /** Runs work while nobody issues licenses against the key type. What was issued before is in the read models. */
  alone<T>(keyType: KeyTypeRef, work: (prove: () => Promise<void>) => Promise<T>): Promise<T>
}

export function createKeyTypeUse(locks: SharedLocks, ledger: Ledger): KeyTypeUse {
  return {
    enter: (keyType) =>
      // Once for as long as this process keeps the lock: a key type that is there then cannot be deleted meanwhile.
      locks.share(nameOf(keyType), async () => {
        if (!(await isThere(ledger, keyType))) throw new Refusal('key_type_not_found')
      }),
    alone: (keyType, work) => locks.exclusive(nameOf(keyType), work),
  }
}

/** None of the ids can hold a space. */
const nameOf = ({ tenantId, productId, keyTypeId }: KeyTypeRef) =>
  `key type ${tenantId} ${productId} ${keyTypeId}`

/** As the log has it: the read models may not show yet what a process recorded that has died. */
async function isThere(ledger: Ledger, { tenantId, productId, keyTypeId }: KeyTypeRef): Promise<boolean> {
  let product: Product = absentProduct
  for await (const entry of ledger.readStream(productStream(tenantId, productId))) {
    if (entry.readable && entry.category === 'product') product = evolveProduct(product, entry.event)
  }
  return product.status === 'present' && findKeyType(product, keyTypeId) !== undefined
}

/**
 * Runs work that issues a license against a key type, which is not deleted in the meantime.
 * @param work gives the proof to the command that issues, as its `proof`. When it returns, the read models show the
 *   license, or `services` see to that before the share is left
 * @throws Refusal `key_type_not_found`
 */
export async function usingKeyType<T>(
  { keyTypes }: { keyTypes: KeyTypeUse },
  keyType: KeyTypeRef,
  work: (proof: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const share = await keyTypes.enter(keyType)
  try {
    return await work(share.prove)
  } finally {
    share.leave()
  }
}
