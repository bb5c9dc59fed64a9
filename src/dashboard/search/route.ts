import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { momentOf } from '../../commands/origin.ts'
import { maskedKey } from '../../credentials/license-key.ts'
import { may } from '../../domain/members/roles.ts'
import { isStorable } from '../../domain/values.ts'
import type { Ports } from '../../ports.ts'
import { type Found, search } from '../../search/search.ts'
import { findUnknownKeys, type RefusedUnknownKey } from '../../usage/read-refusals.ts'
import type { Subjects } from '../../vault/subjects.ts'
import { unknownPerson } from '../../vault/subjects.ts'
import { formOf } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { noteSearch } from './note.ts'
import { foundView } from './view.ts'

/** Longer than anything that can be found. */
const SearchForm = z.object({ text: z.string().max(1000) })

/**
 * Finds licenses, sales, devices and customers. The text may be a license key, so it is sent as a form, is not part
 * of a URL, and is not shown again. A single result opens at once.
 */
export function searchPage(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get('/search', pageRoute({ page: 'licenses:read' }), async (_request, reply) =>
    reply.redirect('/dashboard', 303),
  )

  app.post('/search', pageRoute({ page: 'licenses:read' }), async (request, reply) => {
    const { tenantId, role } = principalOf(request)
    const { text } = formOf(SearchForm, request)
    const all = await search(ports, tenantId, text)
    const found = may(role, 'customers:read') ? all : { ...all, customers: [] }
    await noteSearch(ports, request, found)
    const path = onlyOne(found)
    if (path !== undefined) return reply.redirect(path, 303)
    const people = await peopleIn(ports, tenantId, found)
    const unknown = await unknownKey(ports, tenantId, text, found)
    return show(reply, {
      title: 'Search',
      nav: 'home',
      content: (view) =>
        foundView(view, { found, now: momentOf(ports), people, unknown, wasEmpty: text.trim() === '' }),
    })
  })
}

/** What is known of refused calls with the text as a key, when nothing was found. Only its masked form is looked up. */
async function unknownKey(
  { db, refusals }: Ports<'db' | 'refusals'>,
  tenantId: string,
  text: string,
  { licenses, customers, sales, devices }: Found,
): Promise<RefusedUnknownKey[]> {
  if (licenses.length + customers.length + sales.length + devices.length > 0 || !isStorable(text)) return []
  const displayKey = maskedKey(text)
  if (displayKey === shortestMask) return []
  await refusals.flush()
  return findUnknownKeys(db, tenantId, displayKey)
}

/** The form of texts that are too short to show anything of them. */
const shortestMask = maskedKey('')

/**
 * The path of the only result, if there is exactly one; the customer of a license is shown with it. A former key's answer is not the
 * license's, so it is shown.
 */
function onlyOne({ licenses, devices, sales, customers }: Found): string | undefined {
  const [license] = licenses
  const otherCustomers = customers.filter(
    ({ customer }) => customer.customerId !== license?.license.customerId,
  )
  const others = devices.length + sales.length + otherCustomers.length
  if (licenses.length === 1 && license && license.by !== 'former key' && others === 0)
    return `/dashboard/licenses/${license.license.licenseId}`
  const [device] = devices
  if (devices.length === 1 && device && licenses.length + sales.length + customers.length === 0) {
    const { license: of, seat } = device
    return `/dashboard/licenses/${of.licenseId}?${new URLSearchParams({ device: seat.deviceId })}`
  }
  return undefined
}

/** The people behind the results: of licenses, sales and customers, each in order. */
async function peopleIn(ports: Ports<'subjects'>, tenantId: string, { licenses, sales, customers }: Found) {
  const open = async (people: Parameters<Subjects['openPeople']>[1]) =>
    (await ports.subjects.openPeople(tenantId, people)).map((person) => person ?? unknownPerson)
  const [ofLicenses, ofSales, ofCustomers] = await Promise.all([
    open(licenses.map(({ license }) => license.holder)),
    open(sales.map(({ sale }) => sale.customer)),
    open(customers.map(({ customer }) => customer)),
  ])
  return { ofLicenses, ofSales, ofCustomers }
}
