import { z } from 'zod'
import { listPeople, type SealedOrganizationPerson } from '../../../../projections/people.ts'
import { requireCustomer } from '../../../commands/customers/customers.ts'
import {
  addPeople,
  changePersonRole,
  dissolveOrganization,
  formOrganization,
  invitePerson,
  type PeoplePorts,
  removePerson,
} from '../../../commands/organizations/people.ts'
import { openPeople } from '../../../commands/organizations/read-people.ts'
import { OrganizationRole } from '../../../domain/organizations/events.ts'
import { maxPersonName, mostAtOnce } from '../../../domain/organizations/list.ts'
import { maxPeople } from '../../../domain/organizations/people.ts'
import { LanguageTag } from '../../../domain/portal/languages.ts'
import { EmailAddress } from '../../../domain/values.ts'
import { originOf } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { runOriginOf } from '../../../http/idempotency.ts'
import { answer, errors, momentOut, onlyId, pageOf, pageQuery, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { answerPage } from '../page.ts'
import { placeIn } from './schemas.ts'
import { oneCustomer, shown } from './shown.ts'

const personId = z
  .string()
  .meta({ description: 'The id of the person', example: 'per_06f5w3k8hx7vq2m4n9t1r0s5zc' })

const role = OrganizationRole.meta({
  description:
    '`administrator`: sees and changes the licenses of the organization in the portal, and invites and removes people. `member`: sees the ' +
    'licenses and their devices',
  example: 'member',
})

const language = LanguageTag.optional().meta({
  description: 'The language of the invitation; when absent, that of their last one, else English',
  example: 'en',
})

const personOut = z
  .object({
    id: personId,
    email: z
      .string()
      .nullable()
      .meta({ description: 'Their email address; null once they were erased', example: 'ada@example.com' }),
    name: z.string().nullable().meta({
      description: 'Their name; null if none is known, or once they were erased',
      example: 'Ada Lovelace',
    }),
    role,
    addedAt: momentOut.meta({ description: 'When they were added' }),
    invitedAt: momentOut.nullable().meta({
      description: 'When they were last invited; null if never',
      example: '2026-11-24T14:05:12.000Z',
    }),
    invitationSentAt: momentOut.nullable().meta({
      description: 'When the mail server took the invitation; null while it has not',
      example: '2026-11-24T14:05:14.000Z',
    }),
  })
  .meta({ id: 'OrganizationPerson', description: 'A person of a customer that is an organization' })

const params = z.strictObject({ id: z.string(), personId })
const config = { scope: 'customers:write', dryRun: true } as const

/** Customers that are organizations, and their people. */
export function peopleRoutes(app: ZodApp, ports: PeoplePorts, cursors: Cursors): void {
  formRoutes(app, ports)
  listRoute(app, ports, cursors)
  addRoute(app, ports)
  roleRoute(app, ports)
  inviteRoute(app, ports)
  removeRoute(app, ports)
}

async function views(
  ports: Ports<'subjects'>,
  tenantId: string,
  sealed: readonly SealedOrganizationPerson[],
): Promise<z.infer<typeof personOut>[]> {
  const people = await openPeople(ports, tenantId, sealed)
  return people.map(({ personId: id, email, name, role: now, addedAt, invitedAt, mailedAt }) => ({
    ...{ id, email, name, role: now, addedAt, invitedAt, invitationSentAt: mailedAt },
  }))
}

async function onePerson(ports: Ports<'subjects'>, tenantId: string, sealed: SealedOrganizationPerson) {
  const [person] = await views(ports, tenantId, [sealed])
  if (!person) throw new Error('one person gives one view')
  return { person }
}

function formRoutes(app: ZodApp, ports: PeoplePorts): void {
  app.post(
    '/v1/customers/:id/organization',
    {
      config,
      schema: {
        operationId: 'formOrganization',
        tags: ['Customers'],
        summary: 'Make a customer an organization with people; repeating it changes nothing',
        description:
          'The person behind the customer becomes its first administrator. The people of an organization sign in to the portal with their ' +
          'own addresses, and see its licenses there.',
        params: onlyId,
        response: {
          200: answer('The customer', oneCustomer, {
            customer: { organization: { administrators: 1, members: 0 } },
          }),
          ...errors(403, 404, 409),
        },
      },
    },
    async (request) => {
      const { tenantId, customerId } = placeIn(request)
      return shown(
        ports,
        tenantId,
        await formOrganization(ports, { tenantId, customerId }, originOf(request)),
      )
    },
  )

  app.delete(
    '/v1/customers/:id/organization',
    {
      config,
      schema: {
        operationId: 'dissolveOrganization',
        tags: ['Customers'],
        summary: 'Make an organization a customer of one person again; repeating it changes nothing',
        description:
          'Its people have no access to its licenses any more. The licenses stay with the customer.',
        params: onlyId,
        response: { 200: answer('The customer', oneCustomer), ...errors(403, 404) },
      },
    },
    async (request) => {
      const { tenantId, customerId } = placeIn(request)
      const entry = await dissolveOrganization(ports, { tenantId, customerId }, originOf(request))
      return shown(ports, tenantId, entry)
    },
  )
}

function listRoute(app: ZodApp, ports: Ports<'db' | 'subjects'>, cursors: Cursors): void {
  app.get(
    '/v1/customers/:id/people',
    {
      config: { scope: 'customers:read' },
      schema: {
        operationId: 'listPeople',
        tags: ['Customers'],
        summary: 'List the people of an organization, newest first',
        description: 'A customer who is one person has none.',
        params: onlyId,
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of people', pageOf(personOut)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId, customerId } = placeIn(request)
      await requireCustomer(ports, tenantId, customerId)
      return answerPage(
        cursors,
        [tenantId, 'people of a customer', customerId],
        request.query,
        (keyset) => listPeople(ports.db, tenantId, customerId, keyset),
        (sealed) => views(ports, tenantId, sealed),
      )
    },
  )
}

const someone = z.strictObject({
  email: EmailAddress.meta({ description: 'Their email address', example: 'ada@example.com' }),
  name: text(maxPersonName).optional().meta({ description: 'Their name', example: 'Ada Lovelace' }),
  role: role.optional().meta({ description: 'What they may do; `member` when absent', example: 'member' }),
})

function addRoute(app: ZodApp, ports: PeoplePorts): void {
  app.post(
    '/v1/customers/:id/people',
    {
      config,
      schema: {
        operationId: 'addPeople',
        tags: ['Customers'],
        summary: 'Add people to an organization, and invite them by email',
        description:
          'All of them are added, or none. Those who are in it already stay as they are, and are not invited again. An organization has ' +
          `at most ${maxPeople} people; further ones are 409.`,
        params: onlyId,
        body: z
          .strictObject({
            people: z
              .array(someone)
              .min(1)
              .max(mostAtOnce)
              .meta({ description: 'Who is added; of one address that is there twice, the last counts' }),
            invite: z.boolean().optional().meta({
              description: 'Whether they get an invitation; true when absent. It needs an open portal',
              example: true,
            }),
            language,
          })
          .meta({ example: { people: [{ email: 'ada@example.com', name: 'Ada Lovelace' }] } }),
        response: {
          200: answer(
            'The people, each once',
            z.object({
              people: z
                .array(personOut.pick({ id: true, role: true }).extend({ email: someone.shape.email }))
                .meta({ description: 'As they are in the organization now' }),
            }),
          ),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request) => {
      const place = placeIn(request)
      const { people, invite = true, language: chosen = 'en' } = request.body
      const input = people.map((person) => ({ ...person, role: person.role ?? 'member' }))
      const added = await addPeople(ports, place, input, invite ? chosen : undefined, runOriginOf(request))
      return { people: added.map(({ personId: id, ...person }) => ({ id, ...person })) }
    },
  )
}

function roleRoute(app: ZodApp, ports: PeoplePorts): void {
  app.patch(
    '/v1/customers/:id/people/:personId',
    {
      config,
      schema: {
        operationId: 'changePersonRole',
        tags: ['Customers'],
        summary: 'Change what a person of an organization may do',
        description: 'The last administrator stays one.',
        params,
        body: z.strictObject({ role }).meta({ example: { role: 'administrator' } }),
        response: {
          200: answer('The person', z.object({ person: personOut })),
          ...errors(400, 403, 404, 409),
        },
      },
    },
    async (request) => {
      const place = placeIn(request)
      const change = { personId: request.params.personId, role: request.body.role }
      return onePerson(ports, place.tenantId, await changePersonRole(ports, place, change, originOf(request)))
    },
  )
}

function inviteRoute(app: ZodApp, ports: PeoplePorts): void {
  app.post(
    '/v1/customers/:id/people/:personId/invite',
    {
      config,
      schema: {
        operationId: 'invitePerson',
        tags: ['Customers'],
        summary: 'Send a person of an organization another invitation',
        description: 'At most once an hour. The invitation leads to the portal and holds no secret.',
        params,
        body: z.strictObject({ language }).meta({ example: { language: 'en' } }),
        response: {
          200: answer('The person', z.object({ person: personOut })),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request) => {
      const place = placeIn(request)
      const invitation = { personId: request.params.personId, language: request.body.language }
      const person = await invitePerson(ports, place, invitation, runOriginOf(request))
      return onePerson(ports, place.tenantId, person)
    },
  )
}

function removeRoute(app: ZodApp, ports: PeoplePorts): void {
  app.delete(
    '/v1/customers/:id/people/:personId',
    {
      config,
      schema: {
        operationId: 'removePerson',
        tags: ['Customers'],
        summary: 'Remove a person from an organization',
        description:
          'They no longer see its licenses from then on. The last administrator cannot be removed.',
        params,
        response: {
          200: answer(
            'The person was removed',
            z.object({ removed: z.literal(true).meta({ description: 'Always true', example: true }) }),
          ),
          ...errors(403, 404, 409),
        },
      },
    },
    async (request) => {
      const place = placeIn(request)
      await removePerson(ports, place, request.params.personId, runOriginOf(request))
      return { removed: true as const }
    },
  )
}
