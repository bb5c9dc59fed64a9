import { listAllMembers } from '../../../projections/members.ts'
import { readScim } from '../../../projections/scim.ts'
import { newId } from '../../credentials/id.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { ScimSettings } from '../../domain/scim/events.ts'
import {
  type GroupDetails,
  requireGroup,
  type Scim,
  type ScimCommand,
  type ScimGroup,
  scims,
} from '../../domain/scim/scim.ts'
import type { Ports } from '../../ports.ts'
import { withTenantLock } from '../cross-stream/tenant-lock.ts'
import { requireRoles, rolesIn } from '../custom-roles.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { followGroups } from './directory.ts'

type ChangePorts = Ports<'db' | 'execute' | 'now' | 'subjects'>

/**
 * Changes how members of the directory get their roles, and gives them to all.
 * @param operationId names this operation, so that a repetition after a crash changes nothing, and goes on with the members
 * @throws Refusal `role_not_found`
 */
export async function changeScimSettings(
  ports: ChangePorts & Ports<'ledger'>,
  tenantId: string,
  settings: ScimSettings,
  operationId: string,
  origin: Origin,
): Promise<Scim> {
  return change(ports, tenantId, origin, async () => {
    await requireRoles(ports, tenantId, rolesIn(settings))
    return { type: 'ChangeSettings', tenantId, operationId, settings, at: momentOf(ports) }
  })
}

/** @throws Refusal `scim_group_exists`, `scim_group_limit`, `scim_members_limit`, `scim_member_unknown` */
export async function addGroup(
  ports: ChangePorts,
  tenantId: string,
  group: GroupDetails,
  origin: Origin,
): Promise<ScimGroup> {
  const groupId = newId('grp')
  const state = await change(ports, tenantId, origin, async () => {
    await requireUsers(ports, tenantId, group.memberIds, [])
    return { type: 'AddGroup', tenantId, groupId, group, at: momentOf(ports) }
  })
  return requireGroup(state, groupId)
}

/**
 * Changes a group, and gives its members their roles, also when the group is as it should be already: a run that was killed
 * may have left them.
 * @param wanted what the group is to be, from what it is
 * @throws Refusal `scim_group_not_found`, `scim_group_exists`, `scim_members_limit`, `scim_member_unknown`; what `wanted` throws
 */
export async function changeGroup(
  ports: ChangePorts,
  tenantId: string,
  groupId: string,
  wanted: (group: ScimGroup) => GroupDetails,
  origin: Origin,
): Promise<ScimGroup> {
  const state = await change(ports, tenantId, origin, async (scim) => {
    const before = requireGroup(scim, groupId)
    const group = wanted(before)
    await requireUsers(ports, tenantId, group.memberIds, before.memberIds)
    return { type: 'ChangeGroup', groupId, group, at: momentOf(ports) }
  })
  return requireGroup(state, groupId)
}

/**
 * Removes a group. A repetition is refused, and yet takes from members what the group gave them.
 * @throws Refusal `scim_group_not_found`
 */
export async function removeGroup(
  ports: ChangePorts,
  tenantId: string,
  groupId: string,
  origin: Origin,
): Promise<void> {
  let found = false
  await change(ports, tenantId, origin, ({ groups }) => {
    found ||= groups.some((group) => group.groupId === groupId)
    return found ? { type: 'RemoveGroup', groupId, at: momentOf(ports) } : undefined
  })
  if (!found) throw new Refusal('scim_group_not_found')
}

/** @throws Refusal `scim_group_not_found`, also for another tenant's group */
export async function findGroup({ db }: Ports<'db'>, tenantId: string, groupId: string): Promise<ScimGroup> {
  return requireGroup((await readScim(db, tenantId)).scim, groupId)
}

/**
 * Two streams are concerned, that of the directory and those of members: all changes of either that depend on the other hold
 * the lock `members`, so that a role is always that of the groups which were recorded last.
 */
function change(
  ports: ChangePorts,
  tenantId: string,
  origin: Origin,
  prepare: (scim: Scim) => ScimCommand | undefined | Promise<ScimCommand>,
): Promise<Scim> {
  return withTenantLock(ports.db, tenantId, 'members', async () => {
    const cause = causeOf(origin, momentOf(ports))
    const { state } = await ports.execute(scims, tenantId, prepare, cause)
    await followGroups(ports, tenantId, state, origin)
    return state
  })
}

/** @throws Refusal `scim_member_unknown` for a new id that no user of the tenant has */
async function requireUsers(
  { db }: Ports<'db'>,
  tenantId: string,
  memberIds: readonly string[],
  present: readonly string[],
): Promise<void> {
  const known = new Set(present)
  if (memberIds.every((id) => known.has(id))) return
  for (const { memberId } of await listAllMembers(db, tenantId)) known.add(memberId)
  if (!memberIds.every((id) => known.has(id))) throw new Refusal('scim_member_unknown')
}
