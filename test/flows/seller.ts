import { createLog } from '../../src/app/log.ts'
import { openStores, type Stores } from '../../src/app/stores.ts'
import { createProduct } from '../../src/commands/products.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { setWebhook } from '../../src/commands/webhooks.ts'
import { parseConfig } from '../../src/config.ts'
import { defaultKeyType } from '../../src/domain/products/key-type.ts'
import { origin } from '../harness/ledger.ts'
import type { Environment } from '../harness/process.ts'
import { connectAccount } from '../harness/selling-api.ts'
import { type Receiver, startReceiver } from './receiver.ts'

export const tenantId = 'acme'

export type Seller = Pick<Stores, 'ports' | 'readModels' | 'db'> & {
  /** The seller's account at the card provider. */
  account: string
  /** The receiver of the seller's webhook. */
  receiver: Receiver
  close(): Promise<void>
}

/** A vendor who sells monthly subscriptions of `editor` through the card provider, with a webhook. */
export async function openSeller(environment: Environment): Promise<Seller> {
  const { ports, readModels, db, close } = await openStores(parseConfig(environment), createLog('silent'))
  const receiver = await startReceiver()
  const plan = 'unlimited'
  await createTenant(ports, { tenantId, name: 'Acme', plan }, origin)
  const keyTypes = [{ ...defaultKeyType, duration: { count: 1, unit: 'month' } } as const]
  const asked = { tenantId, plan, productId: 'editor', name: 'Editor', keyPrefix: 'ED', keyTypes } as const
  await createProduct(ports, { ...asked, settings: {} }, origin)
  const account = 'acct_seller'
  await connectAccount(ports, tenantId, account)
  const { url } = receiver
  const { secret } = await setWebhook(
    ports,
    tenantId,
    { url, events: undefined, rotateSecret: false },
    'op_seller',
    origin,
  )
  receiver.secret = secret ?? ''
  return {
    ports,
    readModels,
    db,
    account,
    receiver,
    async close() {
      await receiver.close()
      await close()
    },
  }
}
