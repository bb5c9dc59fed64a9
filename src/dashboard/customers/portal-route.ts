import type { FastifyInstance } from 'fastify'
import { listAudit } from '../../../projections/audit/queries.ts'
import type { PresentCustomer } from '../../../projections/customers.ts'
import { findAddressOfPerson } from '../../../projections/licenses/of-person.ts'
import { findOpenPortal } from '../../../projections/portal.ts'
import { listVisits } from '../../access/customer-sessions.ts'
import { beginViewing } from '../../commands/customers/portal-viewing.ts'
import { actorNames } from '../../history/actors.ts'
import type { Ports } from '../../ports.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { type CustomerRequest, customerOf } from './choose.ts'
import type { PortalUse } from './portal-part.ts'

/** Where a member begins to see the portal as a customer does. It shows no more than every role may read. */
export function customerPortalPage(app: FastifyInstance, { ports }: PageContext): void {
  app.post(
    '/customers/:id/portal',
    pageRoute({ page: 'view_as_customer' }),
    async (request: CustomerRequest, reply) => {
      const { customer } = await customerOf(ports, request)
      const { tenantId, customerId, subjectId } = customer
      const why = await whyNoPortal(ports, customer)
      if (why !== undefined)
        return redirectWith(reply, `/dashboard/customers/${customerId}`, { kind: 'wrong', text: why })
      const { memberId, sessionHash } = principalOf(request)
      const viewing = { tenantId, customerId, subjectId, memberId, sessionHash }
      const token = await beginViewing(ports, viewing, originOfMember(request))
      return reply.redirect(`/portal/${tenantId}/viewing?${new URLSearchParams({ token })}`, 303)
    },
  )
}

/** As many openings by members as the page of a customer shows. */
const maxViewings = 5

/** What the page of a customer says of the portal. */
export async function portalUseOf(
  ports: Ports<'db' | 'subjects'>,
  customer: PresentCustomer,
  limit: number,
): Promise<PortalUse> {
  const { db } = ports
  const { tenantId, customerId, subjectId, formerSubjects = [] } = customer
  const viewed = { action: 'portal_viewed', targetId: customerId }
  const [visits, viewings, why] = await Promise.all([
    listVisits(db, tenantId, [subjectId, ...formerSubjects], limit),
    listAudit(db, tenantId, viewed, { after: undefined, limit: maxViewings }),
    whyNoPortal(ports, customer),
  ])
  const nameOf = await actorNames(
    ports,
    tenantId,
    viewings.items.map(({ actor }) => actor),
  )
  return {
    customerId,
    visits,
    viewings: viewings.items.map(({ at, actor }) => ({ at, by: nameOf(actor) })),
    why,
  }
}

/** Why the portal cannot be seen as a customer; undefined if it can. It can where the customer could sign in. */
async function whyNoPortal(
  { db }: Ports<'db'>,
  { tenantId, subjectId, erasedAt }: PresentCustomer,
): Promise<string | undefined> {
  if (erasedAt !== null)
    return 'The person behind this customer was erased, and can no longer sign in to the portal.'
  if (!(await findOpenPortal(db, tenantId))) return 'The customer portal is closed.'
  if (!(await findAddressOfPerson(db, tenantId, subjectId)))
    return 'No license belongs to this customer, so they cannot sign in to the portal.'
  return undefined
}
