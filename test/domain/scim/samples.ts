import type { ScimCommand } from '../../../src/domain/scim/scim.ts'

export const at = '2026-03-01T12:00:00.000Z'
export const tenantId = 'acme'

export const admins = { displayName: 'Admins', externalId: null, memberIds: ['mem_1'] } as const
export const add = { type: 'AddGroup', tenantId, groupId: 'grp_1', group: admins, at } as const
export const settings = { roles: [{ group: 'Admins', role: 'admin' as const }], defaultRole: null }
export const set = { type: 'ChangeSettings', tenantId, operationId: 'cnf_1', settings, at } as const

/** At least one of each type. */
export const scimCommands: readonly ScimCommand[] = [
  set,
  add,
  { type: 'ChangeGroup', groupId: 'grp_1', group: { ...admins, memberIds: ['mem_2'] }, at },
  { type: 'RemoveGroup', groupId: 'grp_1', at },
]
