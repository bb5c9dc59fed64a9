import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readScim } from '../../../projections/scim.ts'
import { listUsers } from '../../commands/members/directory.ts'
import { addGroup, changeGroup, findGroup, removeGroup } from '../../commands/members/directory-groups.ts'
import type { GroupDetails, ScimGroup } from '../../domain/scim/scim.ts'
import { callerIn, originOf } from '../../http/authenticate.ts'
import type { VendorPorts } from '../../http/ports.ts'
import type { Attributes } from './filter.ts'
import { groupSchema, groupView, patchGroup, readGroup } from './group.ts'
import { ListQuery, OneQuery, pageOf, selected } from './list.ts'
import { answerWith, type Base, reading, writing } from './route.ts'

/** What groups are found by. */
const known: Attributes<ScimGroup> = {
  id: { values: ({ groupId }) => [groupId], exact: true },
  displayname: { values: ({ displayName }) => [displayName], exact: false },
  externalid: { values: ({ externalId }) => [externalId], exact: true },
  members: { values: ({ memberIds }) => memberIds, exact: true },
  'members.value': { values: ({ memberIds }) => memberIds, exact: true },
}

type One = { Params: { id: string } }

/** The groups of the directory. */
export function groupRoutes(app: FastifyInstance, ports: VendorPorts, base: Base): void {
  /** The names of the users, by id. */
  const names = async (tenantId: string): Promise<ReadonlyMap<string, string>> =>
    new Map((await listUsers(ports, tenantId)).map(({ member, userName }) => [member.memberId, userName]))

  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    group: ScimGroup,
    status = 200,
  ): Promise<FastifyReply> => {
    const view = groupView(group, await names(callerIn(request).tenantId), base)
    if (status === 201) reply.header('location', view.meta.location)
    return answerWith(reply, status, selected(view, request.query))
  }

  app.get('/Groups', reading(ListQuery), async (request, reply) => {
    const { tenantId } = callerIn(request)
    const { scim } = await readScim(ports.db, tenantId)
    const users = await names(tenantId)
    const page = pageOf(scim.groups, request.query, known, groupSchema, (group) =>
      groupView(group, users, base),
    )
    return answerWith(reply, 200, page)
  })

  app.post('/Groups', writing(OneQuery), async (request, reply) => {
    const group = readGroup(request.body)
    return show(
      request,
      reply,
      await addGroup(ports, callerIn(request).tenantId, group, originOf(request)),
      201,
    )
  })

  app.get<One>('/Groups/:id', reading(OneQuery), async (request, reply) =>
    show(request, reply, await findGroup(ports, callerIn(request).tenantId, request.params.id)),
  )

  const change = (
    request: FastifyRequest<One>,
    wanted: (group: ScimGroup) => GroupDetails,
  ): Promise<ScimGroup> =>
    changeGroup(ports, callerIn(request).tenantId, request.params.id, wanted, originOf(request))

  app.put<One>('/Groups/:id', writing(OneQuery), async (request, reply) =>
    show(request, reply, await change(request, () => readGroup(request.body))),
  )

  // Without a body, since the group may have many members: Microsoft Entra and Okta both take that.
  app.patch<One>('/Groups/:id', writing(OneQuery), async (request, reply) => {
    await change(request, (group) => patchGroup(group, request.body))
    return reply.code(204).send()
  })

  app.delete<One>('/Groups/:id', writing(), async (request, reply) => {
    await removeGroup(ports, callerIn(request).tenantId, request.params.id, originOf(request))
    return reply.code(204).send()
  })
}
