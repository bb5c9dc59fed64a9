import { z } from 'zod'
import { countLicensesOfKeyType, hasLiveLicense } from '../../../projections/licenses/count.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { momentOf } from '../../commands/origin.ts'
import { deleteKeyType as runDeletion } from '../../commands/products.ts'
import { quoted } from '../../domain/plain-text.ts'
import type { KeyType } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import { SlugInPath } from '../../domain/values.ts'
import type { Ports } from '../../ports.ts'
import { gatedOperation } from '../operation.ts'

const input = z.object({ params: z.strictObject({ productId: SlugInPath, keyTypeId: SlugInPath }) })

export const deleteKeyType = gatedOperation({
  name: 'key-type.delete',
  title: 'Delete a key type',
  method: 'DELETE',
  path: '/v1/products/{productId}/key-types/{keyTypeId}',
  scope: 'products:write',
  input,
  async check(ports, tenantId, { params }) {
    const { product } = await find(ports, tenantId, params)
    if (product.keyTypes.length === 1) throw new Refusal('key_type_is_last')
    if (await hasLiveLicense(ports.db, { tenantId, ...params }, momentOf(ports)))
      throw new Refusal('key_type_in_use')
  },
  async describe(ports, tenantId, { params }) {
    const { product, keyType } = await find(ports, tenantId, params)
    const { live, ended } = await countLicensesOfKeyType(ports.db, { tenantId, ...params }, momentOf(ports))
    return {
      summary: `Delete the key type ${quoted(keyType.name)} (${keyType.keyTypeId}) of ${quoted(product.name)} (${product.productId})`,
      state: {
        keyType,
        live: live.count,
        // An estimate changes by itself.
        ended: ended.counted === 'sampled' ? null : ended.count,
        keyTypes: product.keyTypes.length,
      },
    }
  },
  async run(ports, tenantId, { params }, { origin }): Promise<void> {
    await runDeletion(ports, { tenantId, ...params }, origin)
  },
})

/** @throws Refusal `product_not_found`, `key_type_not_found` */
async function find(
  ports: Ports<'findProduct'>,
  tenantId: string,
  { productId, keyTypeId }: { productId: string; keyTypeId: string },
): Promise<{ product: PresentProduct; keyType: KeyType }> {
  const product = await ports.findProduct(tenantId, productId)
  if (!product) throw new Refusal('product_not_found')
  const keyType = findKeyType(product, keyTypeId)
  if (!keyType) throw new Refusal('key_type_not_found')
  return { product, keyType }
}
