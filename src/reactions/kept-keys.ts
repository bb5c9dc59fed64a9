import { listProductsWithLeftKeys, listUnsettledKeys } from '../../projections/licenses/kept-keys.ts'
import { catchUpWithLog } from '../commands/cross-stream/read-models.ts'
import type { KeptKeyPlace, KeptPeriod } from '../domain/licenses/keys.ts'
import { productKey } from '../domain/streams.ts'
import type { Ports } from '../ports.ts'
import type { Poller } from './poller.ts'
import { type Failure, processOf } from './process-manager.ts'

type OnFailure = (failure: Failure) => void

/**
 * Checks the keys that were kept some minutes ago: one that its license has stays, and the license's former ones are
 * destroyed; one that no license has is destroyed.
 */
export const settleKeptKeys = (
  ports: Ports<'db' | 'keptKeys' | 'ledger' | 'now' | 'untilVisible'>,
  onFailure: OnFailure,
): Poller =>
  processOf<KeptKeyPlace & { isCurrent: boolean }>(ports, onFailure, {
    name: 'licenses.settle_keys',
    everyMs: 60_000,
    most: 1000,
    async due(wanted) {
      // A license that the read models do not show yet must not lose its key.
      await catchUpWithLog(ports)
      return listUnsettledKeys(ports.db, wanted)
    },
    idOf: ({ licenseId }) => licenseId,
    advance: ({ isCurrent, ...place }) =>
      isCurrent ? ports.keptKeys.settle(place) : ports.keptKeys.destroy(place),
  })

/** Destroys the keys that were kept before their product turned key recovery off, also when it is on again. */
export const destroyLeftKeys = (
  ports: Ports<'db' | 'keptKeys' | 'ledger' | 'now'>,
  onFailure: OnFailure,
): Poller =>
  processOf<KeptPeriod>(ports, onFailure, {
    name: 'products.clear_keys',
    everyMs: 60_000,
    due: (wanted) => listProductsWithLeftKeys(ports.db, wanted),
    idOf: ({ tenantId, productId }) => productKey(tenantId, productId),
    advance: (product) => ports.keptKeys.clearPeriods(product),
  })
