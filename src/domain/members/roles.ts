import { z } from 'zod'
import { Scope } from '../tokens/scopes.ts'

export const Role = z.enum(['owner', 'approver', 'support', 'auditor'])
export type Role = z.infer<typeof Role>

/** What a member may do in the dashboard besides reading, which every role allows. */
export type Permission =
  | 'ask_for_changes'
  | 'decide_confirmations'
  | 'manage_tokens'
  | 'manage_members'
  | 'manage_settings'

type RoleRights = {
  /** The description shown where a role is chosen. */
  summary: string
  permissions: readonly Permission[]
  /** The scopes that the member may grant to an API client; `danger` is off by default. */
  grantable: readonly Scope[]
}

const reading = Scope.options.filter((scope) => scope.endsWith(':read'))

/** All roles and their rights. A member who can only read can grant only reading scopes. */
export const rightsOf: Record<Role, RoleRights> = {
  owner: {
    summary: 'Full access, including tokens, members, settings and approvals',
    permissions: [
      'ask_for_changes',
      'decide_confirmations',
      'manage_tokens',
      'manage_members',
      'manage_settings',
    ],
    grantable: Scope.options,
  },
  approver: {
    summary: 'Reads everything and approves or denies dangerous requests',
    permissions: ['ask_for_changes', 'decide_confirmations'],
    grantable: reading,
  },
  support: {
    summary: 'Reads everything and requests license changes, which an owner or an approver approves',
    permissions: ['ask_for_changes'],
    grantable: reading,
  },
  auditor: { summary: 'Reads everything', permissions: [], grantable: reading },
}

export const may = (role: Role, permission: Permission): boolean =>
  rightsOf[role].permissions.includes(permission)
