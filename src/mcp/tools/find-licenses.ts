import { z } from 'zod'
import { operations } from '../../description/operations.ts'
import { customerId, deviceId, licenseId, page, productId, time } from '../arguments.ts'
import { tool } from '../tool.ts'

/** Find licenses, and read what is known of one. */
export const findLicenseTools = [
  tool({
    name: 'find_license',
    operation: 'searchLicenses',
    title: 'Find a license by any hint',
    description:
      'Start here when somebody names a license in any way: a license key or its end, three or more characters of an ' +
      "email address or a person's name, four or more characters of an order number or sale id of a payment provider, a " +
      'device id or name, or an id of a license, customer or request. Returns the licenses with what matched. ' +
      '`more: true` means: ask with a longer text.',
    effect: 'reads',
    input: { text: z.string().min(1).max(500).describe('What the customer or the log says') },
  }),
  tool({
    name: 'list_licenses',
    operation: 'listLicenses',
    title: 'List licenses by filters',
    description:
      'Returns licenses, newest first, that match all given filters. Use find_license when you have a hint about one ' +
      'license, and this to go through many.',
    effect: 'reads',
    input: {
      productId: productId.optional(),
      status: z.enum(operations.listLicenses.query.status.choices).optional(),
      email: z.string().max(254).optional().describe('The whole email address of the person'),
      customerId: customerId.optional(),
      createdAfter: time('Created at this time or later').optional(),
      expiresBefore: time('Expires before this time, or has expired').optional(),
      source: z
        .enum(operations.listLicenses.query.source.choices)
        .optional()
        .describe('How the license came to be'),
      ...page,
    },
    names: {
      productId: 'product',
      customerId: 'customer',
      createdAfter: 'created_after',
      expiresBefore: 'expires_before',
    },
  }),
  tool({
    name: 'get_license',
    operation: 'getLicense',
    title: 'Read a license',
    description:
      'Returns the status, terms, person, device limit and devices of a license, now or at a past moment: also until when ' +
      'its grace lasts (`graceUntil`), which builds it covers (`updatesUntil`), what its entitlements amount to ' +
      '(`entitlementValues`), by what each device is recognized and until when a license file keeps its seat. The license ' +
      'key is masked.',
    effect: 'reads',
    input: {
      licenseId,
      asOf: time('A past moment, or the sequence number of an event in its history').optional(),
    },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'explain_license',
    operation: 'explainLicense',
    title: 'Explain why a license is accepted or refused',
    description:
      'Use it when a customer says that their app does not accept the license. Returns what validate and activate ' +
      'would answer, with each rule that was checked and why. It counts and changes nothing. With a device it also ' +
      'says whether that device has a seat.',
    effect: 'reads',
    input: {
      licenseId,
      deviceId: deviceId.optional(),
      asOf: time('A past moment').optional(),
    },
    names: { licenseId: 'id', deviceId: 'device_id' },
  }),
  tool({
    name: 'read_license_history',
    operation: 'getLicenseHistory',
    title: 'Read the history of a license',
    description:
      'Returns what happened to a license, newest first: when, by whom (a member, an API token, a provider, an app), ' +
      'why, and the values before and after.',
    effect: 'reads',
    input: { licenseId, ...page },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'read_floating_seats',
    operation: 'readSeatsOfLicense',
    title: 'Read how many floating seats of a license are in use',
    description:
      'Returns the most seats in use at once by minute, hour or day, the limit, and how often none was free. With `seats` also how ' +
      'many takings so many seats would have refused: use it when somebody asks whether a customer needs more seats, or fewer. ' +
      'A license whose devices keep their seats is refused.',
    effect: 'reads',
    input: {
      licenseId,
      from: time('The start, at most 400 days ago, or 31 with `seats`; defaults to 30 days ago').optional(),
      to: time('The end; defaults to now').optional(),
      seats: z.int().min(0).max(200_000).optional().describe('A number of seats to compare with'),
    },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'list_refused_calls',
    operation: 'listRefusals',
    ofOne: 'listRefusalsOfLicense',
    title: 'List refused validates and activations',
    description:
      'Returns the calls of apps and servers that were refused in the last 90 days, by device, call and reason, with ' +
      'counts. With a license only those of it; otherwise of all licenses.',
    effect: 'reads',
    input: {
      licenseId: licenseId.optional(),
      ...page,
    },
    names: { licenseId: 'id' },
  }),
]
