import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readScim } from '../../../projections/scim.ts'
import {
  addUser,
  changeUser,
  type DirectoryUser,
  listUsers,
  requireUser,
} from '../../commands/members/directory.ts'
import { removeMember } from '../../commands/members/members.ts'
import { callerIn, originOf } from '../../http/authenticate.ts'
import type { VendorPorts } from '../../http/ports.ts'
import type { Attributes } from './filter.ts'
import { ListQuery, OneQuery, pageOf, selected } from './list.ts'
import { patchUser } from './patch-user.ts'
import { answerWith, type Base, reading, writing } from './route.ts'
import { readUser, userSchema, userView } from './user.ts'

/** What users are found by. */
const known: Attributes<DirectoryUser> = {
  id: { values: ({ member }) => [member.memberId], exact: true },
  username: { values: ({ userName }) => [userName], exact: false },
  externalid: { values: ({ externalId }) => [externalId], exact: true },
  displayname: { values: ({ displayName }) => [displayName], exact: false },
  'name.givenname': { values: ({ givenName }) => [givenName], exact: false },
  'name.familyname': { values: ({ familyName }) => [familyName], exact: false },
  emails: { values: ({ email }) => [email], exact: false },
  'emails.value': { values: ({ email }) => [email], exact: false },
  'emails.type': { values: () => ['work'], exact: false },
  'emails.primary': { values: () => [true], exact: true },
  active: { values: ({ active }) => [active], exact: true },
}

type One = { Params: { id: string } }

/** The members of the workspace, as users of a directory. */
export function userRoutes(app: FastifyInstance, ports: VendorPorts, base: Base): void {
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    user: DirectoryUser,
    status = 200,
  ): Promise<FastifyReply> => {
    const { scim } = await readScim(ports.db, callerIn(request).tenantId)
    const view = userView(user, scim, base)
    if (status === 201) reply.header('location', view.meta.location)
    return answerWith(reply, status, selected(view, request.query))
  }

  app.get('/Users', reading(ListQuery), async (request, reply) => {
    const { tenantId } = callerIn(request)
    const { scim } = await readScim(ports.db, tenantId)
    const users = await listUsers(ports, tenantId)
    const page = pageOf(users, request.query, known, userSchema, (user) => userView(user, scim, base))
    return answerWith(reply, 200, page)
  })

  app.post('/Users', writing(OneQuery), async (request, reply) => {
    const wanted = readUser(request.body, true)
    const { tenantId } = callerIn(request)
    return show(request, reply, await addUser(ports, tenantId, wanted, originOf(request)), 201)
  })

  app.get<One>('/Users/:id', reading(OneQuery), async (request, reply) =>
    show(request, reply, await requireUser(ports, callerIn(request).tenantId, request.params.id)),
  )

  app.put<One>('/Users/:id', writing(OneQuery), async (request, reply) => {
    const { tenantId } = callerIn(request)
    const { id } = request.params
    const change = ({ active }: DirectoryUser) => readUser(request.body, active)
    return show(request, reply, await changeUser(ports, tenantId, id, change, originOf(request)))
  })

  app.patch<One>('/Users/:id', writing(OneQuery), async (request, reply) => {
    const { tenantId } = callerIn(request)
    const { id } = request.params
    const change = (user: DirectoryUser) => patchUser(user, request.body)
    return show(request, reply, await changeUser(ports, tenantId, id, change, originOf(request)))
  })

  app.delete<One>('/Users/:id', writing(), async (request, reply) => {
    await removeMember(ports, callerIn(request).tenantId, request.params.id, originOf(request))
    return reply.code(204).send()
  })
}
