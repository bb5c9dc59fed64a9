import { findMetering, type Metering } from '../../projections/meters/licenses.ts'
import { meterIdOf, meterOfLicense, type UsableMeter } from '../commands/meters/meters.ts'
import { readKey } from '../credentials/license-key.ts'
import { meterView } from '../domain/meters/view.ts'
import type { Ports } from '../ports.ts'
import { unknownKey, type Verdict, verdictOn } from './answer.ts'

type MeteringCall = {
  tenantId: string
  productId: string
  licenseKey: string
  /** The device, by its own id or as an instance; null where it is not named so. */
  deviceId: string | null
  instanceId: string | null
}

/** The verdict on a license, and its meter: undefined where the license may use none now, or there is no such meter. */
type MeteredVerdict = {
  verdict: Verdict
  metered: UsableMeter | undefined
  /** undefined where no license has the key. */
  licenseId: string | undefined
}

/**
 * Whether the license of a key may use a meter now: only an active one may, also in its grace, on a device with a seat if one is named.
 * @throws NoSuchProduct; StateUnreadable
 */
export async function verdictOnMeter(
  ports: Ports<'findMetered' | 'keyHashing'>,
  { meter, ...call }: MeteringCall & { meter: string },
  now: string,
): Promise<MeteredVerdict> {
  const { meterNamed, ...verdict } = await verdictOnMeters(ports, call, now)
  return { ...verdict, metered: meterNamed(meter) }
}

/** The verdict on a license, and its meters by name: undefined for each where the license may use none now. */
type MetersVerdict = Omit<MeteredVerdict, 'metered'> & {
  meterNamed: (meter: string) => UsableMeter | undefined
}

/** The same for several meters. @throws NoSuchProduct; StateUnreadable */
export async function verdictOnMeters(
  ports: Ports<'findMetered' | 'keyHashing'>,
  { tenantId, productId, licenseKey, deviceId, instanceId }: MeteringCall,
  now: string,
): Promise<MetersVerdict> {
  const key = readKey(licenseKey)
  if (key === undefined)
    return { verdict: unknownKey(now), meterNamed: () => undefined, licenseId: undefined }
  const hashes = await ports.keyHashing.hashesOf(tenantId, key)
  const { result, metering } = await ports.findMetered({
    ...{ tenantId, productId, deviceId, instanceId },
    ...hashes,
  })
  const verdict = verdictOn(result, deviceId !== null || instanceId !== null, now)
  const licenseId = 'licenseId' in result ? result.licenseId : undefined
  return { verdict, meterNamed: (meter) => activeMeter(verdict, metering, meter), licenseId }
}

const activeMeter = ({ status }: Verdict, metering: Metering | undefined, meter: string) =>
  status === 'active' && metering ? meterOfLicense(metering, meter) : undefined

/** Why nothing can be used under the meter, where the license is valid or not. */
export const reasonOfNoMeter = ({ status, reason }: Verdict) =>
  status === 'active' ? ('no_such_meter' as const) : (reason ?? status)

/** Which meters a validate asks for: all of the license, or those of these names. */
export type AskedMeters = boolean | readonly string[] | undefined

/**
 * How the meters of a license stand, for a validate that asks for them; nothing is looked up for one that does not.
 * @returns undefined when none were asked for; names that neither the key type nor the customer has are left out
 */
export async function metersAsked(
  ports: Ports<'counting' | 'db'>,
  { tenantId, licenseId }: { tenantId: string; licenseId: string },
  asked: AskedMeters,
  now: string,
) {
  if (asked === undefined || asked === false) return undefined
  const metering = await findMetering(ports.db, tenantId, licenseId)
  const all = [...(metering?.meters ?? []), ...(metering?.shared?.meters ?? [])]
  const names = [...new Set(all.map(({ meter }) => meter))]
  const wanted = asked === true ? names : names.filter((name) => asked.includes(name))
  return Promise.all(
    wanted
      .flatMap((name) => {
        const metered = metering && meterOfLicense(metering, name)
        return metered ? [metered] : []
      })
      .map(async (metered) =>
        meterView(await ports.counting.latest(meterIdOf(metered)), metered.allowance, now),
      ),
  )
}
