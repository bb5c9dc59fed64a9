import { decideLicense, type License } from '../domain/license/license.ts'
import { Refusal } from '../domain/refusal.ts'
import { licenseStream } from '../ledger/streams.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

/**
 * Records that a license's paid period is over, if it is: one that was renewed, revoked or recorded by somebody else
 * in the meantime is left as it is.
 * @throws Refusal `license_not_found`
 */
export async function endPaidPeriod(services: Services, licenseId: string, origin: Origin): Promise<void> {
  const at = momentOf(services)
  await services.handle<License, 'license'>({
    stream: licenseStream(licenseId),
    load: async () => {
      const found = await services.findLicenseAlone(licenseId)
      if (!found) throw new Refusal('license_not_found')
      return { state: found.license, revision: found.revision }
    },
    decide: (license) => decideLicense(license, { type: 'EndPaidPeriod', at }),
    cause: causeOf(origin, at),
  })
}
