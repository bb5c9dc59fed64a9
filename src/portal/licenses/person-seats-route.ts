import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  assignSeat,
  keyOfPerson,
  replacePersonalKey,
  unassignSeat,
} from '../../commands/licenses/person-seats.ts'
import { momentOf } from '../../commands/origin.ts'
import { waitsUntil } from '../../domain/licenses/named.ts'
import { notFound } from '../../http/problem.ts'
import { type PortalContext, page } from '../context.ts'
import { showPage } from '../page.ts'
import { tooMany } from '../sign-in/too-many.ts'
import { originOfCustomer } from '../visit.ts'
import { attempt } from './actions-route.ts'
import { personSeatsOf } from './person-seats.ts'
import { ownKeyView, takeSeatView } from './person-seats-view.ts'
import { type LicenseRequest, licenseOf } from './route.ts'

type SeatRequest = FastifyRequest<{ Params: { tenantId: string; id: string; person: string } }>

const GiveForm = z.object({ person: z.string().max(100) })

/** Each new key is an event of the license, and the person's devices need it. */
const replacing = { burst: 3, intervalMs: 8 * 3_600_000 }

/** Administrators give the seats of a license to people and take them away; each person sees their own key. */
export function personSeatRoutes(app: FastifyInstance, context: PortalContext): void {
  giveRoute(app, context)
  takeRoutes(app, context)
  ownKeyRoutes(app, context)
}

/** @throws Problem 404 for a license whose seats are of devices */
async function found(
  { ports }: PortalContext,
  request: LicenseRequest,
  reply: FastifyReply,
  to: 'see' | 'change',
) {
  const license = await licenseOf(ports, request, reply, to)
  if (!license) return undefined
  const seats = await personSeatsOf(ports, license.entry.license, license.customer, license.mayChange)
  if (!seats) throw notFound('page')
  return { ...license, seats }
}

function giveRoute(app: FastifyInstance, context: PortalContext): void {
  const { ports } = context
  app.post('/:tenantId/licenses/:id/people', page, async (request: LicenseRequest, reply) => {
    const license = await found(context, request, reply, 'change')
    if (!license) return reply
    const { data } = GiveForm.safeParse(request.body ?? {})
    if (!data) throw notFound('page')
    const { tenantId, licenseId } = license.entry.license
    const place = { tenantId, licenseId, personId: data.person }
    return attempt(reply, license, 'seatGiven', () =>
      assignSeat(ports, place, 'customer', originOfCustomer(request, license.customer)),
    )
  })
}

function takeRoutes(app: FastifyInstance, context: PortalContext): void {
  const { ports } = context
  const path = '/:tenantId/licenses/:id/people/:person'

  app.get(path, page, async (request: SeatRequest, reply) => {
    const license = await found(context, request, reply, 'change')
    if (!license) return reply
    const { visit, seats, entry } = license
    const one = seats.seated.find(({ person }) => person.personId === request.params.person)
    if (!one) throw notFound('page')
    const waits = waitsUntil(entry.license.named?.rules.reassignEveryDays ?? 0, one.seat.assignedAt)
    const content = takeSeatView(visit, entry.license.licenseId, one, waits > momentOf(ports) ? waits : null)
    return showPage(reply, visit, { title: visit.say('takeSeat'), content })
  })

  app.post(path, page, async (request: SeatRequest, reply) => {
    const license = await found(context, request, reply, 'change')
    if (!license) return reply
    const { tenantId, licenseId } = license.entry.license
    const place = { tenantId, licenseId, personId: request.params.person }
    return attempt(reply, license, 'seatTaken', () =>
      unassignSeat(ports, place, originOfCustomer(request, license.customer)),
    )
  })
}

function ownKeyRoutes(app: FastifyInstance, context: PortalContext): void {
  const { ports } = context
  const path = '/:tenantId/licenses/:id/own-key'

  const own = async (request: LicenseRequest, reply: FastifyReply) => {
    const license = await found(context, request, reply, 'see')
    if (!license) return undefined
    const { tenantId, licenseId } = license.entry.license
    const { own: mine } = license.seats
    if (!mine) throw notFound('page')
    const show = (licenseKey: string) => {
      const { visit, seats } = license
      const content = ownKeyView(visit, licenseId, licenseKey, seats.devicesPerPerson)
      return showPage(reply, visit, { title: visit.say('ownKeyTitle'), content })
    }
    return { ...license, seat: mine.seat, place: { tenantId, licenseId, personId: mine.personId }, show }
  }

  // A form, so that the key is on no page that can be opened by its address, or by the vendor.
  app.post(path, page, async (request: LicenseRequest, reply) => {
    const mine = await own(request, reply)
    return mine ? mine.show(await keyOfPerson(ports, mine.place, mine.seat)) : reply
  })

  app.post(`${path}/replace`, page, async (request: LicenseRequest, reply) => {
    const mine = await own(request, reply)
    if (!mine) return reply
    const bucket = `portal own key ${mine.place.licenseId} ${mine.place.personId}`
    const taken = await ports.attempts.take([{ bucket, allowance: replacing }])
    if (!taken.allowed) return tooMany(reply, mine.visit, taken.retryAfterSeconds)
    const origin = originOfCustomer(request, mine.customer)
    return mine.show((await replacePersonalKey(ports, mine.place, origin)).licenseKey)
  })
}
