import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findLicenseOfPerson, listLicensesOfPerson } from '../../../projections/licenses/of-person.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { isId } from '../../credentials/id.ts'
import { notFound } from '../../http/problem.ts'
import { type PortalContext, page } from '../context.ts'
import { organizationsOf } from '../organizations/organization.ts'
import { type Notice, showPage } from '../page.ts'
import { type Customer, type Visit, visitOf } from '../visit.ts'
import { licenseView } from './license-view.ts'
import { licenseDetails, shownLicense } from './shown.ts'
import { licensesView } from './view.ts'

const perPage = 25

/** What an address may ask to show above the page after something was done. */
const done = [
  'freed',
  'renamed',
  'keySent',
  'keyReplaced',
  'fileReleased',
  'relayReleased',
  'seatGiven',
  'seatTaken',
] as const
export type Done = (typeof done)[number]
const wrong = ['keySentRecently', 'replacedOften', 'seatsFull', 'seatWaits', 'notPossible'] as const
export type Wrong = (typeof wrong)[number]

const Query = z.object({
  after: z.string().max(100).optional().catch(undefined),
  done: z
    .enum([...done, ...wrong])
    .optional()
    .catch(undefined),
})

const noticeOf = (request: FastifyRequest): Notice | undefined => {
  const { done: text } = Query.parse(request.query)
  if (text === undefined) return undefined
  return { kind: wrong.some((name) => name === text) ? 'wrong' : 'done', text }
}

/** The list of a person's licenses, and the page of each. */
export function licensePages(app: FastifyInstance, { ports }: PortalContext): void {
  app.get('/:tenantId', page, async (request, reply) => {
    const visit = visitOf(request)
    if (!visit.customer) return reply.redirect(`${visit.home}/sign-in`, 303)
    const { tenantId, say } = visit
    const { after } = Query.parse(request.query)
    const person = { tenantId, subjectId: visit.customer.subjectId }
    const { entries, next } = await listLicensesOfPerson(ports.db, person, { after, limit: perPage })
    const [licenses, organizations] = await Promise.all([
      Promise.all(entries.map((entry) => shownLicense(ports, entry))),
      organizationsOf(ports, tenantId, visit.customer),
    ])
    const content = licensesView(visit, { licenses, next }, organizations)
    return showPage(reply, visit, { title: say('title'), content })
  })

  app.get('/:tenantId/licenses/:id', page, async (request: LicenseRequest, reply) => {
    const found = await licenseOf(ports, request, reply, 'see')
    if (!found) return reply
    const { visit, customer, entry, mayChange } = found
    const details = await licenseDetails(ports, entry, customer, mayChange)
    return showPage(reply, visit, {
      title: details.license.productName,
      content: licenseView(visit, details),
      notice: noticeOf(request),
    })
  })
}

export type LicenseRequest = FastifyRequest<{ Params: { tenantId: string; id: string } }>

export type FoundLicense = { visit: Visit; customer: Customer; entry: LicenseEntry; mayChange: boolean }

/**
 * The license of a request, if it belongs to the signed-in person or their organization. A visitor is led to the sign-in page.
 * @param to what the request is for: a member of an organization may only see its licenses
 * @returns undefined when the reply was sent
 * @throws Problem 404 for a license of anybody else, just as for one that does not exist
 */
export async function licenseOf(
  ports: PortalContext['ports'],
  request: LicenseRequest,
  reply: FastifyReply,
  to: 'see' | 'change' = 'change',
): Promise<FoundLicense | undefined> {
  const visit = visitOf(request)
  const { tenantId, customer } = visit
  if (!customer) {
    await reply.redirect(`${visit.home}/sign-in`, 303)
    return undefined
  }
  const { id } = request.params
  const person = { tenantId, subjectId: customer.subjectId }
  const found = isId('lic', id) ? await findLicenseOfPerson(ports.db, person, id) : undefined
  if (!found || (to === 'change' && !found.mayChange)) throw notFound('page')
  return { visit, customer, ...found }
}
