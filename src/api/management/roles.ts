import { z } from 'zod'
import { listCustomRoles } from '../../../projections/custom-roles.ts'
import { requireCustomRole } from '../../commands/custom-roles.ts'
import type { KeptRole } from '../../domain/custom-roles/custom-roles.ts'
import { may, permissions } from '../../domain/members/roles.ts'
import { addRole, changeRole, deleteRole, roleFields } from '../../gate/operations/custom-roles.ts'
import type { ApprovalPorts } from '../../gate/ports.ts'
import { callerIn } from '../../http/authenticate.ts'
import { gatedRoute } from '../../http/gate.ts'
import { answer, errors, momentOut, pageOf } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'

const id = z.string().meta({ description: 'The id of the role', example: 'rol_06f5w3k8hx7vq2m4n9t1r0s5zc' })

const roleOut = z
  .object({
    id,
    ...roleFields,
    permissions: z
      .array(
        z
          .enum(permissions)
          .meta({ description: 'A permission of the dashboard', example: 'change_licenses' }),
      )
      .meta({
        description:
          'What its members may do in the dashboard besides reading, which follows from its scopes',
      }),
    createdAt: momentOut,
    updatedAt: momentOut,
  })
  .meta({ id: 'Role', description: 'A custom role: a named set of scopes for members of the dashboard' })

const oneRole = z.object({ role: roleOut })
const path = '/v1/roles'
const params = z.strictObject({ id })

const view = ({ roleId, scopes, ...role }: KeptRole): z.infer<typeof roleOut> => ({
  ...role,
  id: roleId,
  scopes: scopes.filter((scope) => scope !== 'scim'),
  permissions: permissions.filter((permission) => may({ ...role, roleId, scopes }, permission)),
})

/** The custom roles of the workspace. Members get them in the dashboard, from a provider, or from a directory. */
export function roleRoutes(app: ZodApp, ports: ApprovalPorts): void {
  readRoutes(app, ports)
  gatedRoute(app, ports, addRole, {
    operationId: 'addRole',
    tags: ['Workspace'],
    summary: 'Add a custom role for members of the dashboard',
    description:
      'A workspace has at most 50. The scopes are those of API tokens without `scim`, so no custom role can manage members.',
    response: { 200: answer('The role', oneRole), ...errors(409) },
    reply: (role) => ({ role: view(role) }),
  })
  gatedRoute(app, ports, changeRole, {
    operationId: 'changeRole',
    tags: ['Workspace'],
    summary: 'Change a custom role; omitted fields keep their value',
    description:
      'It binds the next request of each member who has the role, and of each token that they created. `scopes` replaces all of them.',
    response: { 200: answer('The role', oneRole), ...errors(404, 409) },
    reply: (role) => ({ role: view(role) }),
  })
  gatedRoute(app, ports, deleteRole, {
    operationId: 'deleteRole',
    tags: ['Workspace'],
    summary: 'Delete a custom role',
    description:
      'It is refused while a member has the role, or a sign-in provider or the directory gives it.',
    response: {
      200: answer(
        'The role is deleted',
        z.object({ deleted: z.literal(true).meta({ description: 'Always true: it is deleted' }) }),
      ),
      ...errors(404, 409),
    },
    reply: () => ({ deleted: true }),
  })
}

function readRoutes(app: ZodApp, ports: Ports<'db'>): void {
  app.get(
    path,
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'listRoles',
        tags: ['Workspace'],
        summary: 'List the custom roles of the workspace',
        description:
          'There are at most 50, by age. They are always on one page, so there is no `cursor`, `limit` or `order`, and ' +
          '`nextCursor` is always null. The built-in roles are not among them.',
        response: { 200: answer('The roles', pageOf(roleOut)), ...errors(403) },
      },
    },
    async (request) => {
      const { roles } = await listCustomRoles(ports.db, callerIn(request).tenantId)
      return { items: roles.map(view), nextCursor: null }
    },
  )
  app.get(
    `${path}/:id`,
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'getRole',
        tags: ['Workspace'],
        summary: 'Read a custom role',
        description: 'What it allows in the dashboard stands in `permissions`.',
        params,
        response: { 200: answer('The role', oneRole), ...errors(400, 403, 404) },
      },
    },
    async (request) => ({
      role: view(await requireCustomRole(ports, callerIn(request).tenantId, request.params.id)),
    }),
  )
}
