import { customerId, licenseId } from '../arguments.ts'
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
  tool({
    name: 'list_customer_meters',
    operation: 'listCustomerMeters',
    title: "Show what a customer's licenses have used together",
    description:
      'Returns each meter that all licenses of a customer share, in place of what their key types have: what the period includes, what ' +
      'was used and is left, prepaid credits, and holds. Amounts are decimal numbers as text.',
    effect: 'reads',
    input: { customerId },
    names: { customerId: 'id' },
  }),
]
