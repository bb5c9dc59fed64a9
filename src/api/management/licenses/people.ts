import { z } from 'zod'
import { listPeople, type SealedOrganizationPerson } from '../../../../projections/people.ts'
import { requireLicense } from '../../../commands/licenses/licenses.ts'
import {
  type AssignedSeat,
  assignSeat,
  type PersonSeatPorts,
  replacePersonalKey,
  unassignSeat,
} from '../../../commands/licenses/person-seats.ts'
import { openPeople } from '../../../commands/organizations/read-people.ts'
import type { PersonSeat } from '../../../domain/licenses/named.ts'
import { callerIn } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import { answer, errors, momentOut, pageOf, pageQuery, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { answerPage } from '../page.ts'
import { requireLicenseId } from './licenses.ts'

type SeatsPorts = PersonSeatPorts & Ports<'randomBytes' | 'subjects'>

const path = '/v1/licenses/:id/people'

const personId = z.string().meta({
  description: 'The id that the person has in the organization',
  example: 'per_06f5w3k8hx7vq2m4n9t1r0s5zc',
})

const oneLicense = z.strictObject({ id: z.string() })
const onePerson = z.strictObject({ id: z.string(), personId })

const seatFields = {
  id: personId,
  assignedAt: momentOut.meta({ description: 'When they were given the seat' }),
  displayKey: z.string().meta({ description: 'What is shown of their own key', example: 'ACME…HJ6C' }),
  devices: z.array(z.string()).meta({
    description:
      'Their active devices, by the ids that they are called with; an app is called by its instance id',
    example: ['ins_06f5w3k8hx7vq2m4n9t1r0s5zc'],
  }),
}

const seatedPerson = z
  .object({
    ...seatFields,
    email: z.string().nullable().meta({
      description: 'Their email address; null once they were erased',
      example: 'ada@example.com',
    }),
    name: z
      .string()
      .nullable()
      .meta({ description: 'Their name; null if none is known', example: 'Ada Lovelace' }),
  })
  .meta({ id: 'SeatedPerson', description: 'A person who has a seat of a license with named seats' })

const withKey = z.object({
  seat: z.object(seatFields).meta({ description: 'The seat' }),
  licenseKey: z.string().meta({
    description:
      'The key of this person, which activates devices in their seat; the portal shows it to them as well',
    example: 'ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7',
  }),
})

/** Who has the seats of a license whose seats are of people. */
export function personSeatRoutes(app: ZodApp, ports: SeatsPorts, cursors: Cursors): void {
  listRoute(app, ports, cursors)
  assignRoute(app, ports)
  replaceKeyRoute(app, ports)
  unassignRoute(app, ports)
}

const seatView = (id: string, { assignedAt, displayKey, deviceIds }: PersonSeat) => ({
  ...{ id, assignedAt, displayKey, devices: [...deviceIds] },
})

const withKeyView = (id: string, { seat, licenseKey }: AssignedSeat) => ({
  seat: seatView(id, seat),
  licenseKey,
})

function listRoute(app: ZodApp, ports: SeatsPorts, cursors: Cursors): void {
  app.get(
    path,
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listSeatedPeople',
        tags: ['Licenses'],
        summary: 'List the people who have seats of a license, those who joined the organization last first',
        description: 'A license whose seats are of devices has none.',
        params: oneLicense,
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of people', pageOf(seatedPerson)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { license } = await requireLicense(ports, tenantId, requireLicenseId(request.params.id))
      const { customerId, licenseId, named } = license
      const people = named?.people ?? {}
      return answerPage(
        cursors,
        [tenantId, 'people of a license', licenseId],
        request.query,
        (keyset) => listPeople(ports.db, tenantId, customerId ?? '', keyset, Object.keys(people)),
        (sealed) => views(ports, tenantId, people, sealed),
      )
    },
  )
}

async function views(
  ports: Ports<'subjects'>,
  tenantId: string,
  seats: Readonly<Record<string, PersonSeat>>,
  sealed: readonly SealedOrganizationPerson[],
): Promise<z.infer<typeof seatedPerson>[]> {
  const people = await openPeople(ports, tenantId, sealed)
  return people.flatMap(({ personId: id, email, name }) => {
    const seat = seats[id]
    return seat ? [{ ...seatView(id, seat), email, name }] : []
  })
}

function assignRoute(app: ZodApp, ports: SeatsPorts): void {
  app.post(
    path,
    {
      config: {
        scope: 'licenses:write',
        refusedWhileSuspended: true,
        noDryRun:
          'whether a seat is free is only certain once it is taken; listing the people changes nothing',
      },
      schema: {
        operationId: 'assignSeat',
        tags: ['Licenses'],
        summary: 'Give a person of the organization a seat; one who has a seat keeps it and their key',
        description:
          'The license needs `seatPolicy: named`, and belongs to a customer that is an organization, of which the person is one. The ' +
          'limit holds for the vendor too; seats that were taken from others a short while ago do not wait for it.',
        params: oneLicense,
        body: z.strictObject({ personId: text(100).meta(personId.meta() ?? {}) }),
        response: {
          200: answer('The seat, and the key of the person', withKey),
          ...errors(400, 403, 404, 409),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const place = { tenantId, licenseId: requireLicenseId(request.params.id), ...request.body }
      const assigned = await assignSeat(runPorts(request, ports), place, 'vendor', runOriginOf(request))
      return withKeyView(place.personId, assigned)
    },
  )
}

function replaceKeyRoute(app: ZodApp, ports: SeatsPorts): void {
  app.post(
    `${path}/:personId/key`,
    {
      config: {
        scope: 'licenses:write',
        noDryRun: 'a rehearsal would show a key that is none',
      },
      schema: {
        operationId: 'replacePersonalKey',
        tags: ['Licenses'],
        summary: 'Give a person who has a seat a new key',
        description:
          'Calls with the key before get `reminted`. Their devices keep their places, and need the new key.',
        params: onePerson,
        response: { 200: answer('The seat, and the new key', withKey), ...errors(403, 404, 409) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const place = {
        tenantId,
        licenseId: requireLicenseId(request.params.id),
        personId: request.params.personId,
      }
      const replaced = await replacePersonalKey(runPorts(request, ports), place, runOriginOf(request))
      return withKeyView(place.personId, replaced)
    },
  )
}

function unassignRoute(app: ZodApp, ports: SeatsPorts): void {
  app.delete(
    `${path}/:personId`,
    {
      config: { scope: 'licenses:write', dryRun: true },
      schema: {
        operationId: 'unassignSeat',
        tags: ['Licenses'],
        summary: 'Take the seat of a person, and free their devices; repeating it gets the same response',
        description: 'Their key answers `inactive` with the reason `assigned_to_another` from then on.',
        params: onePerson,
        response: {
          200: answer(
            'The person has no seat',
            z.object({ unassigned: z.literal(true).meta({ description: 'Always true', example: true }) }),
          ),
          ...errors(403, 404, 409),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { personId: id } = request.params
      const place = { tenantId, licenseId: requireLicenseId(request.params.id), personId: id }
      await unassignSeat(ports, place, runOriginOf(request))
      return { unassigned: true as const }
    },
  )
}
