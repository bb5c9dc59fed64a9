import type { CustomRoleCommand } from '../../../src/domain/custom-roles/custom-roles.ts'
import { RoleId } from '../../../src/domain/members/roles.ts'

export const at = '2026-03-01T12:00:00.000Z'
export const roleId = RoleId.parse('rol_01k9m3v5q7e8ra9c1d3f5g7601')
export const otherId = RoleId.parse('rol_01k9m3v5q7e8ra9c1d3f5g7602')

const named = { roleId, at } as const

export const add = {
  type: 'AddRole',
  ...named,
  operationId: 'req_1',
  tenantId: 'acme',
  name: 'Support lead',
  scopes: ['licenses:read', 'customers:read'],
} as const
export const change = {
  type: 'ChangeRole',
  ...named,
  operationId: 'req_2',
  name: 'Reporting',
  scopes: ['usage:read'],
} as const
export const remove = { type: 'RemoveRole', ...named, operationId: 'req_3', isInUse: false } as const

/** At least one of each type. */
export const customRoleCommands: readonly CustomRoleCommand[] = [add, change, remove]
