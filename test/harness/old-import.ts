import { randomUUID } from 'node:crypto'
import { foreignKey } from '../../src/credentials/license-key.ts'
import type { LicenseTerms } from '../../src/domain/licenses/events.ts'
import { openRawLog } from '../../src/ledger/raw/log.ts'
import type { TestLedger } from './ledger.ts'
import { testCause } from './notary.ts'

/**
 * Imports a license as earlier versions did, with the plain hash of its key and without a salt.
 * @returns its id
 */
export async function importAsBefore(
  { ports, eventStoreUrl }: Pick<TestLedger, 'ports' | 'eventStoreUrl'>,
  place: { tenantId: string; productId: string; keyTypeId: string },
  licenseKey: string,
  terms: Partial<LicenseTerms> = {},
): Promise<string> {
  const key = foreignKey(licenseKey)
  if (typeof key === 'string') throw new Error(key)
  const { keyHash, displayKey } = key
  const licenseId = ports.deriveId('lic', place.tenantId, keyHash)
  const at = ports.now().toISOString()
  const data: LicenseTerms = {
    licenseId,
    ...place,
    keyHash,
    displayKey,
    quantity: 1,
    deviceLimit: null,
    expiresAt: null,
    onExpiry: 'expire',
    holder: null,
    customerId: null,
    source: 'import',
    saleId: null,
    test: false,
    metadata: {},
    createdAt: at,
    at,
    ...terms,
  }
  const stream = `license-${licenseId}`
  const bytesOf = (value: object) => Buffer.from(JSON.stringify(value))
  const log = openRawLog(eventStoreUrl)
  const appends = await log.openAppends()
  const position = await appends.append([
    {
      id: randomUUID(),
      stream,
      revision: 0,
      type: 'LicenseImported',
      isJson: true,
      data: bytesOf(data),
      metadata: bytesOf({ ...testCause(), schema: 1 }),
    },
  ])
  appends.close()
  await log.close()
  await ports.untilVisible(position)
  return licenseId
}
