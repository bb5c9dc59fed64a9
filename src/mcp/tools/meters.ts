import { z } from 'zod'
import { customerId, licenseId, time } from '../arguments.ts'
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
    name: 'read_metered_use',
    operation: 'readMeteredUseOfLicense',
    title: 'Read what a license used over time',
    description:
      'Returns what a license used under each of its meters by hour or day in UTC, and in all, with how much of it was beyond what was ' +
      'included and prepaid. Use it when somebody asks how the use of a customer grows. Amounts are decimal numbers as text.',
    effect: 'reads',
    input: {
      licenseId,
      from: time('The start; defaults to 30 days ago, or 24 hours by hour').optional(),
      to: time('The end; defaults to now').optional(),
      granularity: z.enum(['hour', 'day']).optional().describe('How long one point is; a day by default'),
    },
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
