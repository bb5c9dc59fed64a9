import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  addPeople,
  changePersonRole,
  invitePerson,
  removePerson,
} from '../../commands/organizations/people.ts'
import { findOpenedPerson, type OpenedPerson, peoplePage } from '../../commands/organizations/read-people.ts'
import { OrganizationRole } from '../../domain/organizations/events.ts'
import { maxPersonName, readPeople } from '../../domain/organizations/list.ts'
import { listProblemIn } from '../../domain/organizations/list-words.ts'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import { EmailAddress, isPlain } from '../../domain/values.ts'
import { csvLine } from '../../http/csv.ts'
import { notFound } from '../../http/problem.ts'
import { type PortalContext, page } from '../context.ts'
import { type Notice, showPage } from '../page.ts'
import { tooMany } from '../sign-in/too-many.ts'
import { originOfCustomer } from '../visit.ts'
import { actsOf, actsView } from './acts.ts'
import { type FoundOrganization, type OrganizationRequest, organizationOf } from './organization.ts'
import { leaveView, listView, pathOf, peopleView, personView, removeView, type Typed } from './view.ts'

const perPage = 50
/** All people of an organization. */
const all = 1000

/** Each invitation is a mail to a person who did not ask for it, so an organization may not send many in a short time. */
const inviting = { burst: 30, intervalMs: 60_000 }
const invitingLists = { burst: 5, intervalMs: 3_600_000 }

const done = ['peopleInvited', 'roleChanged', 'personRemoved'] as const
const wrong = ['lastAdministrator', 'tooManyPeople', 'invitedRecently', 'notPossible'] as const
type Said = (typeof done)[number] | (typeof wrong)[number]

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

const InviteForm = z.object({
  email: z.string().catch(''),
  name: z.string().trim().max(maxPersonName).refine(isPlain).catch(''),
  role: OrganizationRole.catch('member'),
})
const RoleForm = z.object({ role: OrganizationRole })
const ListForm = z.object({ list: z.string().max(200_000).catch('') })

/** The people of an organization, whom its administrators invite and remove. */
export function organizationRoutes(app: FastifyInstance, context: PortalContext): void {
  listRoutes(app, context)
  invitingRoutes(app, context)
  personRoutes(app, context)
  leaveRoutes(app, context)
}

const path = '/:tenantId/organizations/:id'

function listRoutes(app: FastifyInstance, { ports }: PortalContext): void {
  app.get(path, page, async (request: OrganizationRequest, reply) => {
    const found = await organizationOf(ports, request, reply, 'member')
    return found ? showPeople(ports, reply, found, empty) : reply
  })

  app.get(`${path}/people.csv`, page, async (request: OrganizationRequest, reply) => {
    const found = await organizationOf(ports, request, reply)
    if (!found) return reply
    const { people } = await peoplePage(ports, placeOf(found), {
      after: undefined,
      limit: all,
    })
    const lines = people.map(({ email, name, role, addedAt }) => csvLine([email, name, role, addedAt]))
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="people.csv"')
      .send(`${csvLine(['email', 'name', 'role', 'addedAt'])}${lines.join('')}`)
  })

  app.get(`${path}/acts`, page, async (request: OrganizationRequest, reply) => {
    const found = await organizationOf(ports, request, reply)
    if (!found) return reply
    const { visit, organization } = found
    const acts = await actsOf(ports, visit.tenantId, organization.customerId)
    const title = visit.say('organizationActsTitle')
    return showPage(reply, visit, { title, content: actsView(visit, organization, acts) })
  })
}

const empty: Typed = { email: '', name: '', role: 'member', wrong: false }

async function showPeople(
  ports: PortalContext['ports'],
  reply: FastifyReply,
  { visit, organization }: FoundOrganization,
  typed: Typed,
): Promise<FastifyReply> {
  const { after } = Query.parse(reply.request.query)
  const shown = await peoplePage(ports, placeOf({ visit, organization }), { after, limit: perPage })
  const content = peopleView(visit, organization, shown, typed)
  const title = visit.say('organizationTitle')
  const status = typed.wrong ? 422 : 200
  return showPage(reply, visit, { title, content, notice: noticeOf(reply.request) }, status)
}

function invitingRoutes(app: FastifyInstance, { ports }: PortalContext): void {
  app.post(`${path}/people`, page, async (request: OrganizationRequest, reply) => {
    const found = await organizationOf(ports, request, reply)
    if (!found) return reply
    const { visit, organization, customer } = found
    const { email: typed, name, role } = InviteForm.parse(request.body ?? {})
    const email = EmailAddress.safeParse(typed.trim())
    if (!email.success)
      return showPeople(ports, reply, found, { email: typed.slice(0, 254), name, role, wrong: true })
    const bucket = `portal invite ${organization.customerId}`
    const taken = await ports.attempts.take([{ bucket, allowance: inviting }])
    if (!taken.allowed) return tooMany(reply, visit, taken.retryAfterSeconds)
    return attempt(reply, found, 'peopleInvited', async () => {
      const person = { email: email.data, name: name || null, role }
      await addPeople(ports, placeOf(found), [person], visit.language, originOfCustomer(request, customer))
    })
  })

  app.get(`${path}/list`, page, async (request: OrganizationRequest, reply) => {
    const found = await organizationOf(ports, request, reply)
    if (!found) return reply
    const { visit, organization } = found
    const title = visit.say('inviteListTitle')
    return showPage(reply, visit, { title, content: listView(visit, organization, { text: '' }) })
  })

  app.post(`${path}/list`, page, async (request: OrganizationRequest, reply) => {
    const found = await organizationOf(ports, request, reply)
    if (!found) return reply
    const { visit, organization, customer } = found
    const { list: text } = ListForm.parse(request.body ?? {})
    const read = readPeople(text)
    if ('problem' in read) {
      const content = listView(visit, organization, { text, problem: listProblemIn(visit.say, read.problem) })
      return showPage(reply, visit, { title: visit.say('inviteListTitle'), content }, 422)
    }
    const bucket = `portal invite list ${organization.customerId}`
    const taken = await ports.attempts.take([{ bucket, allowance: invitingLists }])
    if (!taken.allowed) return tooMany(reply, visit, taken.retryAfterSeconds)
    return attempt(reply, found, 'peopleInvited', async () => {
      const origin = originOfCustomer(request, customer)
      await addPeople(ports, placeOf(found), read.people, visit.language, origin)
    })
  })
}

type FoundPerson = FoundOrganization & { person: OpenedPerson }

function personRoutes(app: FastifyInstance, { ports }: PortalContext): void {
  const of = `${path}/people/:person`
  /** @throws Problem 404 for a person who is not in the organization, and for the administrator themselves */
  const found = async (
    request: OrganizationRequest,
    reply: FastifyReply,
  ): Promise<FoundPerson | undefined> => {
    const organization = await organizationOf(ports, request, reply)
    if (!organization) return undefined
    const { personId } = organization.organization
    const { person: id = '' } = request.params
    const person = id === personId ? undefined : await findOpenedPerson(ports, placeOf(organization), id)
    if (!person) throw notFound('page')
    return { ...organization, person }
  }

  app.get(of, page, async (request: OrganizationRequest, reply) => {
    const one = await found(request, reply)
    if (!one) return reply
    const { visit, organization, person } = one
    const content = personView(visit, organization, person)
    return showPage(reply, visit, {
      title: visit.say('organizationTitle'),
      content,
      notice: noticeOf(request),
    })
  })

  app.get(`${of}/remove`, page, async (request: OrganizationRequest, reply) => {
    const one = await found(request, reply)
    if (!one) return reply
    const { visit, organization, person } = one
    const content = removeView(visit, organization, person)
    return showPage(reply, visit, { title: visit.say('organizationTitle'), content })
  })

  app.post(`${of}/remove`, page, async (request: OrganizationRequest, reply) => {
    const one = await found(request, reply)
    if (!one) return reply
    const { personId } = one.person
    return attempt(reply, one, 'personRemoved', () =>
      removePerson(ports, placeOf(one), personId, originOfCustomer(request, one.customer)),
    )
  })

  app.post(`${of}/role`, page, async (request: OrganizationRequest, reply) => {
    const one = await found(request, reply)
    if (!one) return reply
    const { data } = RoleForm.safeParse(request.body ?? {})
    if (!data) throw notFound('page')
    const change = { personId: one.person.personId, role: data.role }
    return attempt(reply, one, 'roleChanged', () =>
      changePersonRole(ports, placeOf(one), change, originOfCustomer(request, one.customer)),
    )
  })

  app.post(`${of}/invite`, page, async (request: OrganizationRequest, reply) => {
    const one = await found(request, reply)
    if (!one) return reply
    const invitation = { personId: one.person.personId, language: one.visit.language }
    return attempt(reply, one, 'peopleInvited', () =>
      invitePerson(ports, placeOf(one), invitation, originOfCustomer(request, one.customer)),
    )
  })
}

function leaveRoutes(app: FastifyInstance, { ports }: PortalContext): void {
  app.get(`${path}/leave`, page, async (request: OrganizationRequest, reply) => {
    const found = await organizationOf(ports, request, reply, 'member')
    if (!found) return reply
    const { visit, organization } = found
    return showPage(reply, visit, { title: visit.say('leaveLink'), content: leaveView(visit, organization) })
  })

  app.post(`${path}/leave`, page, async (request: OrganizationRequest, reply) => {
    const found = await organizationOf(ports, request, reply, 'member')
    if (!found) return reply
    const { visit, organization, customer } = found
    try {
      const origin = originOfCustomer(request, customer)
      await removePerson(ports, placeOf(found), organization.personId, origin)
      return await reply.redirect(visit.home, 303)
    } catch (error) {
      return refused(reply, found, error)
    }
  })
}

const placeOf = ({
  visit: { tenantId },
  organization: { customerId },
}: Pick<FoundOrganization, 'visit' | 'organization'>) => ({
  tenantId,
  customerId,
})

const saidOf: Partial<Record<RefusalCode, Said>> = {
  last_administrator: 'lastAdministrator',
  too_many_people: 'tooManyPeople',
  invited_recently: 'invitedRecently',
}

/** Runs an action, and leads back to the people, whose page says how it ended. */
async function attempt(
  reply: FastifyReply,
  found: FoundOrganization,
  said: Said,
  action: () => Promise<unknown>,
): Promise<FastifyReply> {
  try {
    await action()
    return back(reply, found, said)
  } catch (error) {
    return refused(reply, found, error)
  }
}

function refused(reply: FastifyReply, found: FoundOrganization, error: unknown): FastifyReply {
  if (!(error instanceof Refusal)) throw error
  return back(reply, found, saidOf[error.code] ?? 'notPossible')
}

const back = (reply: FastifyReply, { visit, organization }: FoundOrganization, said: Said): FastifyReply =>
  reply.redirect(`${pathOf(visit, organization)}?done=${said}`, 303)
