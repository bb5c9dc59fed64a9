import { z } from 'zod'
import { listCustomRoles } from '../../../projections/custom-roles.ts'
import {
  addCustomRole,
  changeCustomRole,
  isRoleInUse,
  removeCustomRole,
  requireCustomRole,
} from '../../commands/custom-roles.ts'
import { type CustomRoleCommand, customRoles, type KeptRole } from '../../domain/custom-roles/custom-roles.ts'
import { RoleName } from '../../domain/custom-roles/events.ts'
import { RoleId } from '../../domain/members/roles.ts'
import { quoted } from '../../domain/plain-text.ts'
import { Refusal } from '../../domain/refusal.ts'
import { combinableScopes, Scope } from '../../domain/tokens/events.ts'
import type { Ports } from '../../ports.ts'
import { type Detail, gatedOperation } from '../operation.ts'

/** What a role is, as the interface describes it. */
export const roleFields = {
  name: RoleName.meta({
    description: 'Its name, which no other role of the workspace and no built-in role has',
    example: 'Support lead',
  }),
  scopes: z
    .array(Scope.exclude(['scim']))
    .min(1)
    .max(combinableScopes.length)
    .meta({
      description: 'What its members may do, as the scopes of an API token',
      example: ['licenses:read', 'customers:read'],
    }),
}

const params = z.strictObject({
  id: z.string().meta({ description: 'The id of the role', example: 'rol_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
})

const added = z
  .strictObject(roleFields)
  .meta({ example: { name: 'Support lead', scopes: ['licenses:read', 'customers:read'] } })

const changed = z
  .strictObject({ name: roleFields.name.optional(), scopes: roleFields.scopes.optional() })
  .refine((body) => Object.keys(body).length > 0, { error: 'Send what to change.' })
  .meta({ example: { scopes: ['licenses:read', 'customers:read', 'usage:read'] } })

/** Who decides what members may do manages them. */
const about = { scope: 'integrations:write', approvedWith: 'manage_members' } as const

const path = '/v1/roles'

export const addRole = gatedOperation({
  ...about,
  name: 'role.add',
  title: 'Add a custom role',
  method: 'POST',
  path,
  input: z.object({ body: added }),
  async check(ports, tenantId, { body }) {
    await requirePossible(ports, tenantId, { type: 'AddRole', tenantId, ...unmade, ...body })
  },
  async describe(ports, tenantId, { body }) {
    const { revision } = await listCustomRoles(ports.db, tenantId)
    return {
      summary: `Add the custom role ${quoted(body.name)}`,
      details: detailsOf({ scopes: body.scopes }),
      state: { revision },
    }
  },
  run: (ports, tenantId, { body }, execution): Promise<KeptRole> =>
    addCustomRole(ports, tenantId, body, execution),
})

export const changeRole = gatedOperation({
  ...about,
  name: 'role.change',
  title: 'Change a custom role',
  method: 'PATCH',
  path: `${path}/{id}`,
  input: z.object({ params, body: changed }),
  async check(ports, tenantId, { params: { id }, body: { name, scopes } }) {
    const { roleId } = await requireCustomRole(ports, tenantId, id)
    await requirePossible(ports, tenantId, { type: 'ChangeRole', name, scopes, ...unmade, roleId })
  },
  async describe(ports, tenantId, { params: { id }, body }) {
    const { name, updatedAt } = await requireCustomRole(ports, tenantId, id)
    return {
      summary: `Change the custom role ${quoted(name)}`,
      details: detailsOf(body),
      state: { updatedAt },
    }
  },
  run: (ports, tenantId, { params: { id }, body }, execution): Promise<KeptRole> =>
    changeCustomRole(ports, tenantId, id, body, execution),
})

export const deleteRole = gatedOperation({
  ...about,
  name: 'role.delete',
  title: 'Delete a custom role',
  method: 'DELETE',
  path: `${path}/{id}`,
  input: z.object({ params }),
  async check(ports, tenantId, { params: { id } }) {
    const { roleId } = await requireCustomRole(ports, tenantId, id)
    if (await isRoleInUse(ports, tenantId, roleId)) throw new Refusal('role_in_use')
  },
  async describe(ports, tenantId, { params: { id } }) {
    const { name, updatedAt } = await requireCustomRole(ports, tenantId, id)
    return { summary: `Delete the custom role ${quoted(name)}`, state: { updatedAt } }
  },
  run: (ports, tenantId, { params: { id } }, execution): Promise<void> =>
    removeCustomRole(ports, tenantId, id, execution),
})

/** What names a change that is not made yet. */
const unmade = { roleId: RoleId.parse(`rol_${'0'.repeat(26)}`), operationId: '', at: '' }

/** Refuses what the roles as they are do not allow. @throws Refusal */
async function requirePossible(
  { db }: Ports<'db'>,
  tenantId: string,
  command: CustomRoleCommand,
): Promise<void> {
  const { roles } = await listCustomRoles(db, tenantId)
  customRoles.decide({ tenantId, roles, operationIds: [] }, command)
}

const detailsOf = ({
  name,
  scopes,
}: {
  name?: string | undefined
  scopes?: Scope[] | undefined
}): Detail[] => [
  ...(name === undefined ? [] : [['Name', name] as const]),
  ...(scopes === undefined ? [] : [['Scopes', scopes.join(', ')] as const]),
]
