import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { type CustomRole, MemberRole, type RoleId } from '../members/roles.ts'
import { Refusal } from '../refusal.ts'
import type { Scope } from '../tokens/events.ts'
import type { CustomRoleEvent } from './events.ts'

export type KeptRole = CustomRole & { createdAt: string; updatedAt: string }

/** The custom roles of a workspace. They share a stream, so that their number has a limit and no name is there twice. */
export type CustomRoles = {
  /** Undefined before the first one. */
  tenantId: string | undefined
  /** In the order in which they were added. */
  roles: readonly KeptRole[]
  /** Every operation that changed something, so that none is repeated after a crash. */
  operationIds: readonly string[]
}

type Named = { operationId: string; roleId: RoleId; at: string }

export type CustomRoleCommand =
  | (Named & { type: 'AddRole'; tenantId: string; name: string; scopes: readonly Scope[] })
  /** What is undefined stays. */
  | (Named & { type: 'ChangeRole'; name: string | undefined; scopes: readonly Scope[] | undefined })
  /** `isInUse`: a member has the role, or a provider or the directory gives it. */
  | (Named & { type: 'RemoveRole'; isInUse: boolean })

export const maxRoles = 50

const noRoles: CustomRoles = { tenantId: undefined, roles: [], operationIds: [] }

/** @throws Refusal `role_not_found` */
export function requireRole<Role extends CustomRole>(roles: readonly Role[], roleId: string): Role {
  const role = roles.find((one) => one.roleId === roleId)
  if (!role) throw new Refusal('role_not_found')
  return role
}

/**
 * A name that another role of the workspace has, or that a built-in one has, is refused, whatever its case. `scim` makes owners, so no
 * role has it.
 * @throws Refusal `role_exists`, `role_limit`, `role_not_found`, `role_in_use`, `scope_not_for_roles`
 */
function decide(state: CustomRoles, command: CustomRoleCommand): CustomRoleEvent[] {
  const { operationId, roleId, at } = command
  if (state.operationIds.includes(operationId)) return []
  if (command.type === 'AddRole') {
    const { tenantId, name } = command
    if (state.roles.length >= maxRoles) throw new Refusal('role_limit')
    requireFree(state, roleId, name)
    const scopes = allowed(command.scopes)
    return [{ type: 'CustomRoleAdded', data: { tenantId, operationId, roleId, name, scopes, at } }]
  }
  const before = requireRole(state.roles, roleId)
  if (command.type === 'RemoveRole') {
    if (command.isInUse) throw new Refusal('role_in_use')
    return [{ type: 'CustomRoleRemoved', data: { operationId, roleId, at } }]
  }
  const { name = before.name } = command
  const scopes = allowed(command.scopes ?? before.scopes)
  requireFree(state, roleId, name)
  if (name === before.name && sameJson(scopes, before.scopes)) return []
  return [{ type: 'CustomRoleChanged', data: { operationId, roleId, name, scopes, at } }]
}

function allowed(scopes: readonly Scope[]): Scope[] {
  if (scopes.includes('scim')) throw new Refusal('scope_not_for_roles')
  return [...new Set(scopes)].sort()
}

function requireFree({ roles }: CustomRoles, own: RoleId, name: string): void {
  const wanted = name.toLowerCase()
  const others = roles.filter(({ roleId }) => roleId !== own).map((role) => role.name.toLowerCase())
  if ([...MemberRole.options, ...others].includes(wanted)) throw new Refusal('role_exists')
}

/** Never refuses: what is recorded has happened. */
function evolve(state: CustomRoles, { type, data }: CustomRoleEvent): CustomRoles {
  const { operationId, roleId, at } = data
  const operationIds = [...new Set([...state.operationIds, operationId])]
  switch (type) {
    case 'CustomRoleAdded': {
      const { tenantId, name, scopes } = data
      const roles = [...state.roles, { roleId, name, scopes, createdAt: at, updatedAt: at }]
      return { tenantId, roles, operationIds }
    }
    case 'CustomRoleChanged': {
      const { name, scopes } = data
      const roles = state.roles.map((role) =>
        role.roleId === roleId ? { ...role, name, scopes, updatedAt: at } : role,
      )
      return { ...state, roles, operationIds }
    }
    case 'CustomRoleRemoved': {
      const roles = state.roles.filter((role) => role.roleId !== roleId)
      return { ...state, roles, operationIds }
    }
  }
}

/** The rules of the streams of custom roles, one for each tenant. */
export const customRoles: Decider<CustomRoles, CustomRoleCommand, 'role'> = {
  category: 'role',
  initial: noRoles,
  decide,
  evolve,
}
