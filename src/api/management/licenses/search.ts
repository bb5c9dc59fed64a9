import { z } from 'zod'
import { findLicenses, type LicenseEntry, listLicenses } from '../../../../projections/licenses/queries.ts'
import { momentOf } from '../../../commands/origin.ts'
import { itemsOf } from '../../../domain/sales/items.ts'
import { callerIn } from '../../../http/authenticate.ts'
import { licenseOut, licenseView } from '../../../http/licenses/license.ts'
import { answer, errors, pageOf, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import { refuseAllButPost } from '../../../http/wrong-method.ts'
import type { Ports } from '../../../ports.ts'
import { type Found, maxFound, search } from '../../../search/search.ts'
import { unknownPerson } from '../../../vault/subjects.ts'

const searchIn = z
  .strictObject({
    text: text(500).meta({
      description:
        'A license key or the end of one, three or more characters of an email address or a name, four or more characters ' +
        'of an order number or of a provider’s id of a sale, the id or the name of a device, or three or more characters ' +
        'from the beginning of one, or an id of a license, a customer or a request',
    }),
  })
  .meta({ example: { text: 'grace@example.com' } })

const matchedBy = [
  'key',
  'former_key',
  'key_ending',
  'license_id',
  'email',
  'name',
  'sale_id',
  'order_number',
  'request_id',
  'device_id',
  'device_name',
  'customer_id',
] as const

const matchOut = z
  .object({
    by: z.enum(matchedBy).meta({ description: 'What the text was found in', example: 'email' }),
    deviceId: z.string().optional().meta({ description: 'The device that matched; absent if no device did' }),
    keyStatus: z
      .string()
      .nullable()
      .optional()
      .meta({
        description:
          'For a key: the status that a validate of this very key is answered now, `reminted` for a former one; null ' +
          'while it cannot be read',
      }),
  })
  .meta({ id: 'LicenseMatch', description: 'Why a license was found', example: { by: 'email' } })
type Match = z.infer<typeof matchOut>

const foundOut = pageOf(
  z.object({
    license: licenseOut,
    matched: z
      .array(matchOut)
      .meta({ description: 'Everything about the license that the text was found in' }),
  }),
).extend({
  more: z.boolean().meta({
    description:
      `More may match than the first ${maxFound} of each kind, which are shown. So it is too when too many people ` +
      'or order numbers match for any to be shown',
    example: false,
  }),
})

const nameOf: Record<string, Match['by']> = {
  'former key': 'former_key',
  'key ending': 'key_ending',
  'license id': 'license_id',
  'e-mail': 'email',
  name: 'name',
  'sale id': 'sale_id',
  'order number': 'order_number',
  'request id': 'request_id',
  'device id': 'device_id',
  'device name': 'device_name',
  'customer id': 'customer_id',
}
const byOf = (by: string): Match['by'] => nameOf[by] ?? 'key'

/** Finds licenses by text that may be a key. It is sent in the body, and is in no URL, no log and no stored answer. */
export function licenseSearchRoute(
  app: ZodApp,
  ports: Ports<'db' | 'findForRuntime' | 'keyHashing' | 'now' | 'subjects'>,
): void {
  app.post(
    '/v1/licenses/search',
    {
      config: {
        scope: 'licenses:read',
        idempotencyKey: 'ignored',
        repeatable: true,
        noDryRun: 'it changes nothing',
      },
      schema: {
        operationId: 'searchLicenses',
        tags: ['Licenses'],
        summary: 'Find licenses by anything that a customer names, a license key included',
        description:
          'Each license comes with what matched. Case and accents of names and addresses do not matter. When `more` is ' +
          'true, a longer text finds less.',
        body: searchIn,
        response: { 200: answer('The licenses, in one page', foundOut), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const found = await search(ports, tenantId, request.body.text)
      const matches = await matchesIn(ports, tenantId, found)
      const entries = await findLicenses(ports.db, tenantId, [...matches.keys()])
      const holders = entries.map(({ license }) => license.holder)
      const people = await ports.subjects.openPeople(tenantId, holders)
      const now = momentOf(ports)
      const items = entries.map((entry, index) => ({
        license: licenseView(entry, people[index] ?? unknownPerson, now),
        matched: matches.get(entry.license.licenseId) ?? [],
      }))
      return { items, nextCursor: null, more: found.more }
    },
  )
  refuseAllButPost(app, '/v1/licenses/search')
}

/** What matched, by license: itself, its devices, its sale, and the customer that it is linked to. */
async function matchesIn(
  ports: Ports<'db' | 'now'>,
  tenantId: string,
  { licenses, devices, sales, customers }: Found,
): Promise<Map<string, Match[]>> {
  const matches = new Map<string, Match[]>()
  const add = (licenseId: string, match: Match) => {
    const known = matches.get(licenseId) ?? []
    const isKnown = known.some(({ by, deviceId }) => by === match.by && deviceId === match.deviceId)
    if (!isKnown) matches.set(licenseId, [...known, match])
  }
  for (const { license, by, keyStatus } of licenses) {
    const isKey = by === 'key' || by === 'former key'
    add(license.licenseId, { by: byOf(by), ...(isKey && { keyStatus: keyStatus ?? null }) })
  }
  for (const { license, seat, by } of devices) {
    add(license.licenseId, { by: byOf(by), deviceId: seat.deviceId })
  }
  for (const { sale, by } of sales)
    for (const { licenseId } of itemsOf(sale)) add(licenseId, { by: byOf(by) })
  for (const { customer, by } of customers) {
    const linked = await licensesOf(ports, tenantId, customer.customerId)
    for (const { license } of linked) add(license.licenseId, { by: byOf(by) })
  }
  return matches
}

async function licensesOf(
  ports: Ports<'db' | 'now'>,
  tenantId: string,
  customerId: string,
): Promise<LicenseEntry[]> {
  const first = { after: undefined, limit: maxFound }
  const { items } = await listLicenses(ports.db, tenantId, { customerId }, momentOf(ports), first)
  return items
}
