import { hasLiveLicense } from '../../projections/licenses/count.ts'
import type { PresentProduct } from '../../projections/products/queries.ts'
import { listReleases as readReleases } from '../../projections/products/releases.ts'
import type { KeyType } from '../domain/products/key-type.ts'
import {
  keyPeriodOf,
  type ProductCommand,
  products,
  type SettingsChange,
} from '../domain/products/product.ts'
import type { Release } from '../domain/products/releases.ts'
import { Refusal } from '../domain/refusal.ts'
import { productKey } from '../domain/streams.ts'
import type { Plan } from '../domain/tenants/events.ts'
import type { Ports } from '../ports.ts'
import type { KeyTypeRef } from './cross-stream/key-type-use.ts'
import { catchUpWithLog } from './cross-stream/read-models.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

export type ProductInput = {
  tenantId: string
  plan: Plan
  productId: string
  name: string
  keyPrefix: string
  settings: SettingsChange
  keyTypes: readonly KeyType[]
}

/** @throws Refusal `product_exists`, `key_type_exists`, `product_limit_reached` */
export async function createProduct(
  ports: Ports<'execute' | 'now' | 'planCapacity'>,
  { plan, ...input }: ProductInput,
  origin: Origin,
): Promise<PresentProduct> {
  const { tenantId, productId } = input
  return ports.planCapacity.reserve({ tenantId, plan, what: 'products', needed: 1 }, (granted, proof) =>
    change(ports, { tenantId, productId, origin, proof }, (at) => {
      if (granted === 0) throw new Refusal('product_limit_reached')
      return { type: 'CreateProduct', ...input, at }
    }),
  )
}

/**
 * Changes a product. When it keeps no keys any more, the kept ones are gone before this returns; if the process dies in
 * between, the role `reactions` deletes them.
 * @throws Refusal `product_not_found`
 */
export async function changeProduct(
  ports: Ports<'execute' | 'keptKeys' | 'now'>,
  tenantId: string,
  productId: string,
  input: { name?: string; keyPrefix?: string; settings: SettingsChange },
  origin: Origin,
): Promise<PresentProduct> {
  const product = await changeProductWith(ports, tenantId, productId, origin, (at) => ({
    type: 'ChangeProduct',
    ...input,
    at,
  }))
  if (input.settings.keyRecovery === false) {
    const period = keyPeriodOf(product)
    // Whatever has no period is from before, also when the setting is on again by now.
    await ports.keptKeys.clearPeriods({ tenantId, productId, period, keeps: false })
  }
  return product
}

/** @throws Refusal `product_not_found`, `key_type_exists` */
export function addKeyType(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  productId: string,
  keyType: KeyType,
  origin: Origin,
): Promise<PresentProduct> {
  return changeProductWith(ports, tenantId, productId, origin, (at) => ({
    type: 'AddKeyType',
    keyType,
    at,
  }))
}

/** @throws Refusal `product_not_found`, `key_type_not_found` */
export function changeKeyType(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  productId: string,
  keyTypeId: string,
  input: Partial<Omit<KeyType, 'keyTypeId'>>,
  origin: Origin,
): Promise<PresentProduct> {
  return changeProductWith(ports, tenantId, productId, origin, (at) => ({
    type: 'ChangeKeyType',
    keyTypeId,
    change: input,
    at,
  }))
}

/**
 * Replaces the list of a product's releases; the same list again, in any order, changes nothing.
 * @throws Refusal `product_not_found`
 */
export async function listReleases(
  ports: Ports<'db' | 'execute' | 'now'>,
  { tenantId, productId }: { tenantId: string; productId: string },
  releases: readonly Release[],
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  await ports.execute(
    products,
    productKey(tenantId, productId),
    async () => {
      const listed = await readReleases(ports.db, tenantId, productId)
      return { type: 'ListReleases', releases, listed, at }
    },
    causeOf(origin, at),
    { run: origin.run },
  )
}

/** Carries out any command on a product. @throws Refusal as `decideProduct` does */
export function changeProductWith(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  productId: string,
  origin: Origin,
  command: (at: string) => ProductCommand,
): Promise<PresentProduct> {
  return change(ports, { tenantId, productId, origin }, command)
}

type Change = {
  tenantId: string
  productId: string
  origin: Origin
  proof?: (() => Promise<void>) | undefined
}

async function change(
  ports: Ports<'execute' | 'now'>,
  { tenantId, productId, origin, proof }: Change,
  command: (at: string) => ProductCommand,
): Promise<PresentProduct> {
  const at = momentOf(ports)
  const key = productKey(tenantId, productId)
  const prepare = () => command(at)
  const options = { run: origin.run, proof }
  const { state } = await ports.execute(products, key, prepare, causeOf(origin, at), options)
  if (state.status === 'absent') throw new Refusal('product_not_found')
  return state
}

/**
 * Deletes a key type that no live license references; ended licenses keep its entitlements. A repetition for
 * the same cause changes nothing, even if a key type with the same id was added since. From the count of the
 * licenses until the read models show the deletion, no license is issued for the key type.
 * @throws Refusal `product_not_found`, `key_type_not_found`, `key_type_is_last`, `key_type_in_use`
 */
export function deleteKeyType(
  ports: Ports<'db' | 'execute' | 'keyTypes' | 'ledger' | 'now' | 'untilVisible'>,
  keyType: KeyTypeRef,
  origin: Origin,
): Promise<void> {
  return ports.keyTypes.alone(keyType, async (proof) => {
    await catchUpWithLog(ports)
    await deleteUnused(ports, keyType, origin, proof)
  })
}

async function deleteUnused(
  ports: Ports<'db' | 'execute' | 'now'>,
  keyType: KeyTypeRef,
  origin: Origin,
  proof: () => Promise<void>,
): Promise<void> {
  const at = momentOf(ports)
  const { tenantId, productId, keyTypeId } = keyType
  await ports.execute(
    products,
    productKey(tenantId, productId),
    async () => {
      const inUse = await hasLiveLicense(ports.db, keyType, at)
      return { type: 'DeleteKeyType', keyTypeId, inUse, at }
    },
    causeOf(origin, at),
    { run: { resumed: true, sharedId: 'causationId' }, proof },
  )
}
