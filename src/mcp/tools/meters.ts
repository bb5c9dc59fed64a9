import { licenseId } from '../arguments.ts'
import { tool } from '../tool.ts'

/** What licenses use under their meters. */
export const meterTools = [
  tool({
    name: 'list_license_meters',
    operation: 'listLicenseMeters',
    title: 'Show what a license has used',
    description:
      'Returns each meter of a license: what the period includes, what was used and is left, what is beyond it, when it begins anew, ' +
      'prepaid credits, and holds of work that is under way. Use it to see why `consume` is refused with `meter_exhausted`. ' +
      'Amounts are decimal numbers as text.',
    effect: 'reads',
    input: { licenseId },
    names: { licenseId: 'id' },
  }),
]
