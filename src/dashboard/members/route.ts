import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listCustomRoles } from '../../../projections/custom-roles.ts'
import { findListedMember, type ListedMember, listAllMembers } from '../../../projections/members.ts'
import { listTokenNamesOfMember } from '../../../projections/tokens/list.ts'
import { membersWithLinks } from '../../access/links.ts'
import { endSessionsOf, listSessionsOf } from '../../access/sessions.ts'
import { addMember, changeRole, emailOf, issueLink, removeMember } from '../../commands/members/members.ts'
import { signInMethods } from '../../commands/members/set-up.ts'
import { momentOf } from '../../commands/origin.ts'
import { isId } from '../../credentials/id.ts'
import { GivenRole } from '../../domain/members/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import { EmailAddress } from '../../domain/values.ts'
import { notFound, Problem } from '../../http/problem.ts'
import { formOf, line } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { welcomePath } from '../welcome/route.ts'
import { nameOfRole } from './role-names.ts'
import { linkView, membersView, memberView, newMemberView } from './view.ts'

const NewMember = z.object({ email: line(320), role: GivenRole })
const RoleForm = z.object({ role: GivenRole })

const path = '/dashboard/members'
const manage = pageRoute({ page: 'manage_members' })
const manageForm = pageRoute({ page: 'manage_members', proof: 'send' })

type MemberRequest = FastifyRequest<{ Params: { id: string } }>

export function memberPages(app: FastifyInstance, context: PageContext): void {
  const { ports, show, baseUrl } = context

  app.get('/members', pageRoute({ page: 'member' }), async (request, reply) => {
    const { tenantId, role, memberId } = principalOf(request)
    const members = await listAllMembers(ports.db, tenantId)
    const people = await ports.subjects.openPeople(
      tenantId,
      members.map(({ subjectId, email }) => ({ subjectId, email, name: null })),
    )
    const { roles } = await listCustomRoles(ports.db, tenantId)
    const links = await membersWithLinks(ports.db, tenantId, ports.now())
    const rows = members.map((member, index) => ({
      member,
      email: people[index]?.email ?? null,
      link: links.get(member.memberId),
    }))
    return show(reply, {
      title: 'Members',
      nav: 'members',
      content: (view) => membersView(view, { rows, roles, role, memberId }),
    })
  })

  const form = async (
    request: FastifyRequest,
    reply: FastifyReply,
    given: { email: string; role: GivenRole },
    problem?: string,
  ) => {
    const { roles } = await listCustomRoles(ports.db, principalOf(request).tenantId)
    return show(reply, {
      title: 'New member',
      nav: 'members',
      content: ({ token }) => newMemberView({ token, roles, ...given, problem }),
      problem,
    })
  }
  app.get('/members/new', manage, async (request, reply) =>
    form(request, reply, { email: '', role: 'support' }),
  )

  const showLink = async (
    request: FastifyRequest,
    reply: FastifyReply,
    memberId: string,
    purpose: 'invitation' | 'recovery',
  ) => {
    const { tenantId } = principalOf(request)
    const { secret, expiresAt } = await issueLink(ports, tenantId, memberId, purpose, originOfMember(request))
    const email = await emailIn(tenantId, memberId)
    return show(reply, {
      title: 'One-time link',
      nav: 'members',
      content: () => linkView(`${baseUrl}${welcomePath(secret)}`, email, expiresAt),
    })
  }

  const emailIn = async (tenantId: string, memberId: string) => {
    const member = await findListedMember(ports.db, tenantId, memberId)
    return member ? emailOf(ports, member) : null
  }

  app.post('/members', manageForm, async (request, reply) => {
    const { email, role } = formOf(NewMember, request)
    if (!EmailAddress.safeParse(email).success)
      return form(request, reply, { email, role }, 'Enter a valid email address.')
    const { tenantId } = principalOf(request)
    try {
      const memberId = await addMember(ports, { tenantId, role, email }, originOfMember(request))
      return await showLink(request, reply, memberId, 'invitation')
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'member_exists') throw error
      return form(request, reply, { email, role }, 'A member with this email address already exists.')
    }
  })

  oneMember(app, context, (request, reply) => showLink(request, reply, request.params.id, 'recovery'))
}

/** A member's page, with the actions of an owner. */
function oneMember(
  app: FastifyInstance,
  { ports, show }: PageContext,
  showLink: (request: MemberRequest, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  const required = async (request: MemberRequest): Promise<ListedMember> => {
    const { id } = request.params
    const member = isId('mem', id)
      ? await findListedMember(ports.db, principalOf(request).tenantId, id)
      : undefined
    if (!member) throw notFound('member')
    return member
  }
  /**
   * A member cannot change themselves here: another owner has to, so that no one locks themselves out by mistake.
   */
  const another = async (request: MemberRequest): Promise<ListedMember> => {
    const member = await required(request)
    if (member.memberId !== principalOf(request).memberId) return member
    throw new Problem(409, 'invalid_request', 'You cannot change your own membership. Ask another owner.')
  }

  app.get('/members/:id', manage, async (request: MemberRequest, reply) => {
    const member = await required(request)
    const email = await emailOf(ports, member)
    const ways = await signInMethods(ports, member.memberId)
    const sessions = await listSessionsOf(ports.db, member.memberId, ports.now())
    const tokens = await listTokenNamesOfMember(ports.db, member.memberId, momentOf(ports))
    const { roles } = await listCustomRoles(ports.db, member.tenantId)
    const isSelf = member.memberId === principalOf(request).memberId
    return show(reply, {
      title: email ?? member.memberId,
      nav: 'members',
      content: (view) => memberView(view, { roles, member, email, ways, sessions, tokens, isSelf }),
    })
  })

  app.post('/members/:id/role', manageForm, async (request: MemberRequest, reply) => {
    const { memberId, tenantId } = await another(request)
    const { role } = formOf(RoleForm, request)
    await changeRole(ports, tenantId, memberId, role, originOfMember(request))
    const { roles } = await listCustomRoles(ports.db, tenantId)
    return redirectWith(reply, `${path}/${memberId}`, `Role changed to ${nameOfRole(roles, role)}.`)
  })

  app.post('/members/:id/link', manageForm, async (request: MemberRequest, reply) => {
    await required(request)
    return showLink(request, reply)
  })

  app.post('/members/:id/sessions/end', manageForm, async (request: MemberRequest, reply) => {
    const { memberId } = await another(request)
    await endSessionsOf(ports.db, memberId, ports.now())
    return redirectWith(reply, `${path}/${memberId}`, 'Member signed out everywhere.')
  })

  app.post('/members/:id/remove', manageForm, async (request: MemberRequest, reply) => {
    const { memberId, tenantId } = await another(request)
    await removeMember(ports, tenantId, memberId, originOfMember(request))
    return redirectWith(reply, path, 'Member removed and signed out everywhere.')
  })
}
