import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { type LicenseEntry, listLicenses } from '../../../projections/licenses/queries.ts'
import { momentOf } from '../../commands/origin.ts'
import { may } from '../../domain/members/roles.ts'
import { licenseView as licenseOf } from '../../http/licenses/license.ts'
import type { Ports } from '../../ports.ts'
import { unknownPerson } from '../../vault/subjects.ts'
import { customersMeant } from '../customers/choose.ts'
import { formOf } from '../forms/forms.ts'
import { pathOfPerson, productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { filterOf, LicenseQuery, licenseQueryOf } from './filter.ts'
import { licensesView, whichCustomerView } from './view.ts'

const pageSize = 50

/** Longer than any email address. */
const CustomerForm = z.object({ text: z.string().max(400) })

export async function shownLicenses(
  ports: Ports<'now' | 'subjects'>,
  tenantId: string,
  entries: readonly LicenseEntry[],
) {
  const now = momentOf(ports)
  const holders = entries.map(({ license }) => license.holder)
  const people = await ports.subjects.openPeople(tenantId, holders)
  return entries.map((entry, index) => licenseOf(entry, people[index] ?? unknownPerson, now))
}

/** All licenses. Each is changed on its own page. */
export function licensePages(app: FastifyInstance, { ports, cursors, show }: PageContext): void {
  app.get('/licenses', auditedPage('licenses:read', 'licenses', LicenseQuery), async (request, reply) => {
    const { tenantId, role } = principalOf(request)
    const { cursor, shown } = licenseQueryOf(request)
    const boundTo = [tenantId, 'dashboard licenses', JSON.stringify(shown)]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const found = await listLicenses(ports.db, tenantId, filterOf(shown), momentOf(ports), keyset)
    const licenses = await shownLicenses(ports, tenantId, found.items)
    const products = await productChoices(ports, tenantId)
    return show(reply, {
      title: 'Licenses',
      nav: 'licenses',
      content: (view) =>
        licensesView(view, {
          licenses,
          products,
          mayMint: may(role, 'change_licenses'),
          mayExport: may(role, 'manage_settings'),
          filter: shown,
          cursor,
          next: cursors.write(boundTo, found.next),
        }),
    })
  })

  app.get('/licenses/customer', auditedPage('licenses:read', 'customers'), async (_request, reply) =>
    reply.redirect('/dashboard/licenses', 303),
  )

  app.post('/licenses/customer', auditedPage('licenses:read', 'customers'), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const text = formOf(CustomerForm, request).text.trim()
    if (text === '') return reply.redirect('/dashboard/licenses', 303)
    const meant = await customersMeant(ports, tenantId, text)
    const [one, ...others] = meant.candidates
    if (one && others.length === 0 && !meant.more)
      return reply.redirect(`/dashboard/licenses?customer=${one.customerId}`, 303)
    return show(reply, {
      title: 'Which customer?',
      nav: 'licenses',
      content: () => whichCustomerView(text, meant),
    })
  })

  app.post('/licenses/find', auditedPage('licenses:read', 'licenses'), async (request, reply) =>
    reply.redirect(await pathOfPerson(ports, request, '/dashboard/licenses'), 303),
  )
}
