import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { freeSeat, nameDevice } from '../../commands/licenses/by-customer.ts'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import { isPlain } from '../../domain/values.ts'
import { notFound } from '../../http/problem.ts'
import { type PortalContext, page } from '../context.ts'
import { showPage } from '../page.ts'
import { tooMany } from '../sign-in/too-many.ts'
import { originOfCustomer } from '../visit.ts'
import { freeView, maxDeviceName, nameView } from './action-views.ts'
import { type Done, type FoundLicense, licenseOf, type Wrong } from './route.ts'
import { type LicenseDetails, licenseDetails, type ShownDevice } from './shown.ts'

type DeviceRequest = FastifyRequest<{ Params: { tenantId: string; id: string; device: string } }>

const Name = z.object({
  name: z
    .string()
    .trim()
    .max(maxDeviceName)
    .refine((name) => isPlain(name)),
})

/** Each name is an event of the license, so a person may not give many in a short time. */
const naming = { burst: 20, intervalMs: 5 * 60_000 }

/** What a person does with the devices of their license: remove one, and name it. */
export function deviceActions(app: FastifyInstance, { ports }: PortalContext): void {
  const path = '/:tenantId/licenses/:id/devices/:device'
  const found = async (request: DeviceRequest, reply: FastifyReply) => {
    const license = await licenseOf(ports, request, reply, 'see')
    if (!license) return undefined
    const details = await licenseDetails(ports, license.entry, license.customer, license.mayChange)
    const device = details.devices.find(({ instanceId }) => instanceId === request.params.device)
    // Of a license whose seats are of people, each changes their own devices.
    if (!license.mayChange && !device?.isOwn) throw notFound('page')
    return { ...license, details, device }
  }

  app.get(`${path}/free`, page, async (request: DeviceRequest, reply) => {
    const license = await found(request, reply)
    if (!license) return reply
    const { visit, details, device } = wanted(license)
    const title = visit.say('freeTitle', { name: device.name })
    return showPage(reply, visit, { title, content: freeView(visit, details, device) })
  })

  app.post(`${path}/free`, page, async (request: DeviceRequest, reply) => {
    const license = await found(request, reply)
    if (!license) return reply
    const { licenseId, tenantId } = license.entry.license
    const place = { tenantId, licenseId, instanceId: request.params.device }
    return attempt(reply, license, 'freed', async () => {
      const { productId, freed } = await freeSeat(ports, place, originOfCustomer(request, license.customer))
      if (freed) ports.usage.count(tenantId, productId, 'deactivations')
    })
  })

  app.get(`${path}/name`, page, async (request: DeviceRequest, reply) => {
    const license = await found(request, reply)
    if (!license) return reply
    const { visit, details, device } = wanted(license)
    const name = device.name === device.reportedName ? '' : device.name
    const content = nameView(visit, details, device, { name, wrong: false })
    return showPage(reply, visit, { title: visit.say('renameTitle'), content })
  })

  app.post(`${path}/name`, page, async (request: DeviceRequest, reply) => {
    const license = await found(request, reply)
    if (!license) return reply
    const { visit, details, device, customer, entry } = wanted(license)
    const { data } = Name.safeParse(request.body)
    if (!data) {
      const { name = '' } = (request.body ?? {}) as { name?: string }
      const content = nameView(visit, details, device, { name: String(name), wrong: true })
      return showPage(reply, visit, { title: visit.say('renameTitle'), content }, 422)
    }
    const { tenantId, licenseId } = entry.license
    const bucket = `portal name ${licenseId}`
    const taken = await ports.attempts.take([{ bucket, allowance: naming }])
    if (!taken.allowed) return tooMany(reply, visit, taken.retryAfterSeconds)
    const { subjectId } = customer
    const named = { tenantId, licenseId, instanceId: device.instanceId, subjectId, name: data.name || null }
    return attempt(reply, license, 'renamed', () =>
      nameDevice(ports, named, originOfCustomer(request, customer)),
    )
  })
}

/** @throws Problem 404 for a device that has no seat on the license */
function wanted<Found extends { device: ShownDevice | undefined; details: LicenseDetails }>(
  found: Found,
): Found & { device: ShownDevice } {
  if (!found.device) throw notFound('page')
  return { ...found, device: found.device }
}

/** It was done several times within a day. */
export class TooOften extends Error {}

/** The refusals that mean that it does not exist for this person. */
const absent: readonly RefusalCode[] = [
  'license_not_found',
  'device_not_found',
  'subject_not_found',
  'person_not_found',
]
const wrongOf: Partial<Record<RefusalCode, Wrong>> = {
  key_mailed_recently: 'keySentRecently',
  seat_limit_reached: 'seatsFull',
  seat_waits: 'seatWaits',
}

/** Runs an action, and leads back to the page of the license, which says how it ended. */
export async function attempt(
  reply: FastifyReply,
  { visit, entry }: FoundLicense,
  text: Done,
  action: () => Promise<unknown>,
): Promise<FastifyReply> {
  const back = (shown: Done | Wrong) =>
    reply.redirect(`${visit.home}/licenses/${entry.license.licenseId}?done=${shown}`, 303)
  try {
    await action()
    return back(text)
  } catch (error) {
    if (error instanceof TooOften) return back('replacedOften')
    if (!(error instanceof Refusal)) throw error
    if (absent.includes(error.code)) throw notFound('page')
    return back(wrongOf[error.code] ?? 'notPossible')
  }
}
