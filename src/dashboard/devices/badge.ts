import { givesSeats, type LicenseStatus, type Seat } from '../../domain/licenses/license.ts'
import type { Html } from '../../html.ts'
import { badge } from '../frame/parts.ts'

/** A device is shown as active only while its license is valid. */
export function deviceBadge({ status }: Pick<Seat, 'status'>, ofLicense: LicenseStatus): Html {
  if (status === 'deactivated') return badge('plain', 'deactivated')
  return givesSeats(ofLicense) ? badge('good', 'active') : badge('warn', `license ${ofLicense}`)
}
