import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireLicense } from '../../commands/licenses/licenses.ts'
import { peopleOfLicense } from '../../commands/licenses/people-of-license.ts'
import { assignSeat, replacePersonalKey, unassignSeat } from '../../commands/licenses/person-seats.ts'
import { isId } from '../../credentials/id.ts'
import { may } from '../../domain/members/roles.ts'
import { notFound } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { formOf } from '../forms/forms.ts'
import { refusedForm } from '../forms/refused.ts'
import type { Crumb } from '../frame/navigation.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { personKeyView, personSeatsView, type ShownPersonSeats } from './people-view.ts'

type LicenseRequest = FastifyRequest<{ Params: { id: string } }>

const change = pageRoute({ page: 'change_licenses' })
const OnePerson = z.object({ personId: z.string().refine((id) => isId('per', id)) })
const newSeat = newForm({})

/** Who has the seats of a license whose seats are of people. */
export function personSeatPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: LicenseRequest, reply: FastifyReply, form: FilledForm) => {
    const shown = await shownSeats(ports, request)
    return show(reply, {
      title: 'People with seats',
      nav: 'licenses',
      trail: aboveIn(shown.licenseId),
      content: (view) => personSeatsView(view, shown, form),
      form,
    })
  }
  const place = (request: LicenseRequest, personId: string) => ({
    tenantId: principalOf(request).tenantId,
    licenseId: request.params.id,
    personId,
  })

  app.get(
    '/licenses/:id/people',
    auditedPage('licenses:read', 'license', z.object({})),
    (request: LicenseRequest, reply) => page(request, reply, newSeat),
  )

  app.post('/licenses/:id/people', change, async (request: LicenseRequest, reply) => {
    await shownSeats(ports, request)
    const { filled, data } = readForm(OnePerson, request)
    if (!data) return page(request, reply, filled)
    try {
      await assignSeat(ports, place(request, data.personId), 'vendor', originOfMember(request))
    } catch (error) {
      return page(request, reply, refusedForm(error, filled))
    }
    return redirectWith(reply, pathOf(request), 'Seat given. The person finds their key in your portal.')
  })

  app.post('/licenses/:id/people/take', change, async (request: LicenseRequest, reply) => {
    await shownSeats(ports, request)
    const { personId } = formOf(OnePerson, request)
    await unassignSeat(ports, place(request, personId), originOfMember(request))
    return redirectWith(reply, pathOf(request), 'Seat taken, and its devices freed.')
  })

  app.post('/licenses/:id/people/key', change, async (request: LicenseRequest, reply) => {
    const { licenseId } = await shownSeats(ports, request)
    const { personId } = formOf(OnePerson, request)
    const { licenseKey } = await replacePersonalKey(ports, place(request, personId), originOfMember(request))
    return show(reply, {
      title: 'New key of a person',
      nav: 'licenses',
      trail: aboveIn(licenseId),
      content: () => personKeyView(pathOf(request), licenseKey),
    })
  })
}

const pathOf = ({ params: { id } }: LicenseRequest): string => `/dashboard/licenses/${id}/people`

const aboveIn = (licenseId: string): Crumb[] => [
  { label: 'Licenses', href: '/dashboard/licenses' },
  { label: licenseId, href: `/dashboard/licenses/${licenseId}` },
]

/** @throws Problem 404 for a license whose seats are of devices */
async function shownSeats(
  ports: Ports<'db' | 'subjects'>,
  request: LicenseRequest,
): Promise<ShownPersonSeats> {
  const { tenantId, role } = principalOf(request)
  const { license } = await requireLicense(ports, tenantId, request.params.id)
  const { licenseId, customerId, named, deviceLimit } = license
  if (named === null) throw notFound('license')
  return {
    licenseId,
    customerId,
    limit: deviceLimit,
    ...(await peopleOfLicense(ports, license)),
    mayChange: may(role, 'change_licenses'),
  }
}
