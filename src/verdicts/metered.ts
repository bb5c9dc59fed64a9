import type { Metering } from '../../projections/meters/licenses.ts'
import { type MeterOfLicense, meterOfLicense } from '../commands/meters/meters.ts'
import { readKey } from '../credentials/license-key.ts'
import type { Ports } from '../ports.ts'
import { unknownKey, type Verdict, verdictOn } from './answer.ts'

type MeteredCall = {
  tenantId: string
  productId: string
  licenseKey: string
  meter: string
  /** The device, by its own id or as an instance; null where it is not named so. */
  deviceId: string | null
  instanceId: string | null
}

/** The verdict on a license, and its meter: undefined where the license may use none now, or its key type has no such meter. */
type MeteredVerdict = { verdict: Verdict; metered: MeterOfLicense | undefined }

/**
 * Whether the license of a key may use a meter now: only an active one may, also in its grace, on a device with a seat if one is named.
 * @throws NoSuchProduct; StateUnreadable
 */
export async function verdictOnMeter(
  ports: Ports<'findMetered' | 'keyHashing'>,
  { tenantId, productId, licenseKey, meter, deviceId, instanceId }: MeteredCall,
  now: string,
): Promise<MeteredVerdict> {
  const key = readKey(licenseKey)
  if (key === undefined) return { verdict: unknownKey(now), metered: undefined }
  const hashes = await ports.keyHashing.hashesOf(tenantId, key)
  const { result, metering } = await ports.findMetered({
    ...{ tenantId, productId, deviceId, instanceId },
    ...hashes,
  })
  const verdict = verdictOn(result, deviceId !== null || instanceId !== null, now)
  return { verdict, metered: activeMeter(verdict, metering, meter) }
}

const activeMeter = ({ status }: Verdict, metering: Metering | undefined, meter: string) =>
  status === 'active' && metering ? meterOfLicense(metering, meter) : undefined

/** Why nothing can be used under the meter, where the license is valid or not. */
export const reasonOfNoMeter = ({ status, reason }: Verdict) =>
  status === 'active' ? ('no_such_meter' as const) : (reason ?? status)
