import { listCustomRoles } from '../../projections/custom-roles.ts'
import { isRoleGiven } from '../../projections/members.ts'
import { readScim } from '../../projections/scim.ts'
import { listSignInProviders } from '../../projections/sign-in-providers.ts'
import { idOfMade } from '../credentials/id.ts'
import {
  type CustomRoleCommand,
  type CustomRoles,
  customRoles,
  type KeptRole,
  requireRole,
} from '../domain/custom-roles/custom-roles.ts'
import { isRoleId, type RecordedRole, RoleId } from '../domain/members/roles.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ProvidedRole } from '../domain/sign-in-providers/events.ts'
import type { Scope } from '../domain/tokens/events.ts'
import { loadFromLog } from '../ledger/execute.ts'
import type { Ports } from '../ports.ts'
import { catchUpWithLog } from './cross-stream/read-models.ts'
import { withTenantLock } from './cross-stream/tenant-lock.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

type ChangePorts = Ports<'execute' | 'now'>

/** The execution of an operation: its id names it, so that a repetition after a crash changes nothing. */
type Execution = { id: string; origin: Origin }

/** @throws Refusal `role_exists`, `role_limit`, `scope_not_for_roles` */
export async function addCustomRole(
  ports: ChangePorts,
  tenantId: string,
  given: { name: string; scopes: readonly Scope[] },
  { id: operationId, origin }: Execution,
): Promise<KeptRole> {
  const roleId = RoleId.parse(idOfMade('rol', operationId))
  const named = { tenantId, roleId, operationId, at: momentOf(ports) }
  const { roles } = await change(ports, tenantId, { type: 'AddRole', ...given, ...named }, origin)
  return requireRole(roles, roleId)
}

/**
 * Changes a role; what is undefined stays. It binds the next request of each member who has it, and of each token that they created.
 * @throws Refusal `role_not_found`, `role_exists`, `scope_not_for_roles`
 */
export async function changeCustomRole(
  ports: ChangePorts,
  tenantId: string,
  id: string,
  { name, scopes }: { name?: string | undefined; scopes?: readonly Scope[] | undefined },
  { id: operationId, origin }: Execution,
): Promise<KeptRole> {
  const named = { roleId: roleIdIn(id), operationId, at: momentOf(ports) }
  const { roles } = await change(ports, tenantId, { type: 'ChangeRole', name, scopes, ...named }, origin)
  return requireRole(roles, id)
}

/**
 * Removes a role that no member has, and that no provider and no mapping of the directory gives. These are other streams than that of the
 * roles: whatever gives a role holds the lock `members` and reads from the log that the role exists, and the removal holds it and sees
 * all that was recorded, also by a process that died.
 * @throws Refusal `role_not_found`, `role_in_use`
 */
export async function removeCustomRole(
  ports: ChangePorts & Ports<'db' | 'ledger' | 'untilVisible'>,
  tenantId: string,
  id: string,
  { id: operationId, origin }: Execution,
): Promise<void> {
  const roleId = roleIdIn(id)
  await withTenantLock(ports.db, tenantId, 'members', async (proof) => {
    await catchUpWithLog(ports)
    const isInUse = await isRoleInUse(ports, tenantId, roleId)
    const command = { type: 'RemoveRole', roleId, operationId, isInUse, at: momentOf(ports) } as const
    await ports.execute(customRoles, tenantId, command, causeOf(origin, command.at), { proof })
  })
}

/** Whether a member has the role, or a provider or the directory gives it. */
export async function isRoleInUse({ db }: Ports<'db'>, tenantId: string, roleId: RoleId): Promise<boolean> {
  const [isGiven, { providers }, { scim }] = await Promise.all([
    isRoleGiven(db, tenantId, roleId),
    listSignInProviders(db, tenantId),
    readScim(db, tenantId),
  ])
  return isGiven || [...providers, scim.settings].some((mapping) => rolesIn(mapping).includes(roleId))
}

/** What a provider or a directory gives. */
export type RoleMapping = {
  roles?: readonly { role: ProvidedRole }[] | undefined
  defaultRole?: ProvidedRole | null | undefined
}

/** The roles of a mapping; what is undefined of it gives none. */
export const rolesIn = ({ roles = [], defaultRole }: RoleMapping): ProvidedRole[] => [
  ...roles.map(({ role }) => role),
  ...(defaultRole ? [defaultRole] : []),
]

/**
 * Refuses a custom role that the workspace does not have, by the log. Call it under the lock `members`.
 * @throws Refusal `role_not_found`
 */
export async function requireRoles(
  { ledger }: Ports<'ledger'>,
  tenantId: string,
  given: readonly (ProvidedRole | RecordedRole)[],
): Promise<void> {
  const custom = given.filter(isRoleId)
  if (custom.length === 0) return
  const { state } = await loadFromLog(ledger, tenantId, customRoles)
  for (const roleId of custom) requireRole(state.roles, roleId)
}

/** @throws Refusal `role_not_found`, also for another tenant's role */
export async function requireCustomRole(
  { db }: Ports<'db'>,
  tenantId: string,
  roleId: string,
): Promise<KeptRole> {
  return requireRole((await listCustomRoles(db, tenantId)).roles, roleId)
}

function roleIdIn(id: string): RoleId {
  if (!isRoleId(id)) throw new Refusal('role_not_found')
  return id
}

async function change(
  { execute }: ChangePorts,
  tenantId: string,
  command: CustomRoleCommand,
  origin: Origin,
): Promise<CustomRoles> {
  const { state } = await execute(customRoles, tenantId, command, causeOf(origin, command.at))
  return state
}
