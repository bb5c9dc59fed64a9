import type { Share, SharedLocks } from '../../../projections/database/shared-locks.ts'
import { absentProduct, evolveProduct, findKeyType, type Product } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import { productStream } from '../../domain/streams.ts'
import type { Ledger } from '../../ledger/ledger.ts'

export type KeyTypeRef = { tenantId: string; productId: string; keyTypeId: string }

/**
 * Prevents the deletion of a key type while licenses are issued for it. A license and its key type are in two
 * streams, so a revision alone cannot.
 */
export type KeyTypeUse = {
  /**
   * The key type is not deleted until the returned share is left.
   * @throws Refusal `key_type_not_found` when it is deleted already
   */
  enter(keyType: KeyTypeRef): Promise<Share>
  /** Runs work while no licenses are issued for the key type. Those issued before are in the read models. */
  alone<T>(keyType: KeyTypeRef, work: (prove: () => Promise<void>) => Promise<T>): Promise<T>
}

export function createKeyTypeUse(locks: SharedLocks, ledger: Ledger): KeyTypeUse {
  return {
    enter: (keyType) =>
      // Checked once while this process holds the lock: the key type cannot be deleted meanwhile.
      locks.share(nameOf(keyType), async () => {
        if (!(await isThere(ledger, keyType))) throw new Refusal('key_type_not_found')
      }),
    alone: (keyType, work) => locks.exclusive(nameOf(keyType), work),
  }
}

/** None of the ids can contain a space. */
const nameOf = ({ tenantId, productId, keyTypeId }: KeyTypeRef) =>
  `key type ${tenantId} ${productId} ${keyTypeId}`

/** Reads the log, since the read models may lack events of a process that died. */
async function isThere(ledger: Ledger, { tenantId, productId, keyTypeId }: KeyTypeRef): Promise<boolean> {
  let product: Product = absentProduct
  for await (const entry of ledger.readStream(productStream(tenantId, productId))) {
    if (entry.readable && entry.category === 'product') product = evolveProduct(product, entry.event)
  }
  return product.status === 'present' && findKeyType(product, keyTypeId) !== undefined
}

/**
 * Runs work that issues a license for a key type, which is not deleted meanwhile.
 * @param work passes its argument as `proof` to the command that issues. When it returns, the read models
 *   show the license, or `ports` waits for that before it leaves the share
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
