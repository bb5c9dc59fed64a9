import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import type { GivenRole } from '../members/roles.ts'
import { Refusal } from '../refusal.ts'
import type { ScimEvent, ScimSettings } from './events.ts'

/** A group of the directory. */
export type ScimGroup = GroupDetails & { groupId: string; createdAt: string; updatedAt: string }

export type GroupDetails = {
  displayName: string
  externalId: string | null
  /** Of members who may have been removed meanwhile: no id is given twice. */
  memberIds: readonly string[]
}

/** What a workspace knows of its directory. It is one stream, so that no name of a group is there twice. */
export type Scim = {
  /** Undefined before the first event. */
  tenantId: string | undefined
  settings: ScimSettings
  /** In the order in which they were added. */
  groups: readonly ScimGroup[]
  /** Every operation that changed the settings, so that none is repeated after a crash. */
  operationIds: readonly string[]
}

export type ScimCommand =
  | { type: 'ChangeSettings'; tenantId: string; operationId: string; settings: ScimSettings; at: string }
  | { type: 'AddGroup'; tenantId: string; groupId: string; group: GroupDetails; at: string }
  /** What the group is to be. */
  | { type: 'ChangeGroup'; groupId: string; group: GroupDetails; at: string }
  | { type: 'RemoveGroup'; groupId: string; at: string }

export const maxGroups = 200
export const maxGroupMembers = 2000

export const noScim: Scim = {
  tenantId: undefined,
  settings: { roles: [], defaultRole: null },
  groups: [],
  operationIds: [],
}

/** @throws Refusal `scim_group_not_found` */
export function requireGroup({ groups }: Pick<Scim, 'groups'>, groupId: string): ScimGroup {
  const group = groups.find((one) => one.groupId === groupId)
  if (!group) throw new Refusal('scim_group_not_found')
  return group
}

/**
 * The role that groups give.
 *
 * | `roles`   | the member                      | role                                       |
 * | --------- | ------------------------------- | ------------------------------------------ |
 * | not empty | is in one or more mapped groups | that of the first of the mapping           |
 * | not empty | is in none                      | the default role; null when there is none  |
 * | empty     | had a role                      | `kept`                                     |
 * | empty     | never had one                   | the default role; null when there is none  |
 */
export function roleByGroups(
  { settings: { roles, defaultRole }, groups }: Pick<Scim, 'settings' | 'groups'>,
  memberId: string | undefined,
  hadRole: boolean,
): GivenRole | 'kept' | null {
  if (roles.length === 0 && hadRole) return 'kept'
  const names = new Set(
    groups.flatMap(({ displayName, memberIds }) =>
      memberId !== undefined && memberIds.includes(memberId) ? [displayName] : [],
    ),
  )
  return roles.find(({ group }) => names.has(group))?.role ?? defaultRole
}

const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/**
 * What is recorded already changes nothing.
 * @throws Refusal `scim_group_exists`, `scim_group_limit`, `scim_members_limit`, `scim_group_not_found`
 */
function decide(state: Scim, command: ScimCommand): ScimEvent[] {
  const { at } = command
  switch (command.type) {
    case 'ChangeSettings': {
      const { tenantId, operationId, settings } = command
      if (state.operationIds.includes(operationId) || sameJson(state.settings, settings)) return []
      return [{ type: 'ScimSettingsChanged', data: { tenantId, operationId, ...settings, at } }]
    }
    case 'AddGroup': {
      const { tenantId, groupId, group } = command
      requireFree(state, undefined, group)
      if (state.groups.length >= maxGroups) throw new Refusal('scim_group_limit')
      const { displayName, externalId } = group
      const memberIds = [...new Set(group.memberIds)]
      const data = { tenantId, groupId, displayName, externalId, memberIds, at }
      return [{ type: 'ScimGroupAdded', data }]
    }
    case 'ChangeGroup':
      return changed(state, command)
    case 'RemoveGroup': {
      const { groupId } = requireGroup(state, command.groupId)
      return [{ type: 'ScimGroupRemoved', data: { groupId, at } }]
    }
  }
}

function changed(
  state: Scim,
  { groupId, group, at }: Extract<ScimCommand, { type: 'ChangeGroup' }>,
): ScimEvent[] {
  const before = requireGroup(state, groupId)
  requireFree(state, groupId, group)
  const { displayName, externalId } = group
  const wanted = new Set(group.memberIds)
  const present = new Set(before.memberIds)
  const added = [...wanted].filter((id) => !present.has(id))
  const removed = [...present].filter((id) => !wanted.has(id))
  const events: ScimEvent[] = []
  if (displayName !== before.displayName || externalId !== before.externalId)
    events.push({ type: 'ScimGroupChanged', data: { groupId, displayName, externalId, at } })
  if (added.length + removed.length > 0)
    events.push({ type: 'ScimGroupMembersChanged', data: { groupId, added, removed, at } })
  return events
}

/** @throws Refusal `scim_group_exists` for a name that another group has, `scim_members_limit` */
function requireFree(
  { groups }: Scim,
  own: string | undefined,
  { displayName, memberIds }: GroupDetails,
): void {
  const taken = groups.some((one) => one.groupId !== own && sameName(one.displayName, displayName))
  if (taken) throw new Refusal('scim_group_exists')
  if (new Set(memberIds).size > maxGroupMembers) throw new Refusal('scim_members_limit')
}

/** Never refuses: what is recorded has happened. */
function evolve(state: Scim, { type, data }: ScimEvent): Scim {
  switch (type) {
    case 'ScimSettingsChanged': {
      const { tenantId, operationId, roles, defaultRole } = data
      const operationIds = [...state.operationIds, operationId]
      return { ...state, tenantId, settings: { roles, defaultRole }, operationIds }
    }
    case 'ScimGroupAdded': {
      const { tenantId, at, ...group } = data
      return { ...state, tenantId, groups: [...state.groups, { ...group, createdAt: at, updatedAt: at }] }
    }
    case 'ScimGroupChanged': {
      const { groupId, displayName, externalId, at } = data
      return withGroup(state, groupId, () => ({ displayName, externalId, updatedAt: at }))
    }
    case 'ScimGroupMembersChanged': {
      const { groupId, added, removed, at } = data
      const gone = new Set(removed)
      return withGroup(state, groupId, ({ memberIds }) => ({
        memberIds: [...new Set([...memberIds.filter((id) => !gone.has(id)), ...added])],
        updatedAt: at,
      }))
    }
    case 'ScimGroupRemoved':
      return { ...state, groups: state.groups.filter(({ groupId }) => groupId !== data.groupId) }
  }
}

const withGroup = (state: Scim, groupId: string, change: (group: ScimGroup) => Partial<ScimGroup>): Scim => ({
  ...state,
  groups: state.groups.map((group) => (group.groupId === groupId ? { ...group, ...change(group) } : group)),
})

/** The rules of the streams of directories, one for each tenant. */
export const scims: Decider<Scim, ScimCommand, 'scim'> = {
  category: 'scim',
  initial: noScim,
  decide,
  evolve,
}
