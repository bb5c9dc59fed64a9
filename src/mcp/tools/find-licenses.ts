import { z } from 'zod'
import { customerId, deviceId, licenseId, page, productId, time } from '../arguments.ts'
import { pathTo } from '../path.ts'
import { tool } from '../tool.ts'

const ofLicense = (id: string, rest = ''): string => pathTo`/v1/licenses/${id}` + rest

/** Find licenses, and read what is known of one. */
export const findLicenseTools = [
  tool({
    name: 'find_license',
    title: 'Find a license by any hint',
    description:
      'Start here when somebody names a license in any way: a license key or its end, three or more characters of an ' +
      "email address or a person's name, four or more characters of an order number or sale id of a payment provider, a " +
      'device id or name, or an id of a license, customer or request. Returns the licenses with what matched. ' +
      '`more: true` means: ask with a longer text.',
    effect: 'reads',
    input: { text: z.string().min(1).max(500).describe('What the customer or the log says') },
    request: (body) => ({ method: 'POST', path: '/v1/licenses/search', body }),
  }),
  tool({
    name: 'list_licenses',
    title: 'List licenses by filters',
    description:
      'Returns licenses, newest first, that match all given filters. Use find_license when you have a hint about one ' +
      'license, and this to go through many.',
    effect: 'reads',
    input: {
      productId: productId.optional(),
      status: z.enum(['active', 'fallback', 'expired', 'suspended', 'revoked']).optional(),
      email: z.string().max(254).optional().describe('The whole email address of the person'),
      customerId: customerId.optional(),
      createdAfter: time('Created at this time or later').optional(),
      expiresBefore: time('Expires before this time, or has expired').optional(),
      source: z.enum(['api', 'import', 'sale', 'test']).optional().describe('How the license came to be'),
      ...page,
    },
    request: ({ productId: product, customerId: customer, createdAfter, expiresBefore, ...query }) => ({
      method: 'GET',
      path: '/v1/licenses',
      query: { product, customer, created_after: createdAfter, expires_before: expiresBefore, ...query },
    }),
  }),
  tool({
    name: 'get_license',
    title: 'Read a license',
    description:
      'Returns the status, terms, person, device limit and devices of a license, now or at a past moment. The license ' +
      'key is masked.',
    effect: 'reads',
    input: {
      licenseId,
      asOf: time('A past moment, or the sequence number of an event in its history').optional(),
    },
    request: ({ licenseId: id, asOf }) => ({ method: 'GET', path: ofLicense(id), query: { asOf } }),
  }),
  tool({
    name: 'explain_license',
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
    request: ({ licenseId: id, deviceId: device_id, asOf }) => ({
      method: 'GET',
      path: ofLicense(id, '/explain'),
      query: { device_id, asOf },
    }),
  }),
  tool({
    name: 'read_license_history',
    title: 'Read the history of a license',
    description:
      'Returns what happened to a license, newest first: when, by whom (a member, an API token, a provider, an app), ' +
      'why, and the values before and after.',
    effect: 'reads',
    input: { licenseId, ...page },
    request: ({ licenseId: id, ...query }) => ({ method: 'GET', path: ofLicense(id, '/history'), query }),
  }),
  tool({
    name: 'list_refused_calls',
    title: 'List refused validates and activations',
    description:
      'Returns the calls of apps and servers that were refused in the last 90 days, by device, call and reason, with ' +
      'counts. With a license only those of it; otherwise of all licenses.',
    effect: 'reads',
    input: {
      licenseId: licenseId.optional(),
      ...page,
    },
    request: ({ licenseId: id, ...query }) => ({
      method: 'GET',
      path: id === undefined ? '/v1/refusals' : ofLicense(id, '/refusals'),
      query,
    }),
  }),
]
