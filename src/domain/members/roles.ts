import { z } from 'zod'
import { Scope } from '../tokens/scopes.ts'

export const Role = z.enum(['owner', 'approver', 'support', 'auditor'])
export type Role = z.infer<typeof Role>

/** What a member may do in the dashboard, beside reading, which all of them may. */
export type Permission =
  | 'ask_for_changes'
  | 'decide_confirmations'
  | 'manage_tokens'
  | 'manage_members'
  | 'manage_settings'

type RoleRights = {
  /** In words for the people who choose it. */
  summary: string
  permissions: readonly Permission[]
  /** What a program that the member signs in may be given at most; `danger` still has to be turned on. */
  grantable: readonly Scope[]
}

const reading = Scope.options.filter((scope) => scope.endsWith(':read'))

/** The whole matrix. Whoever only reads may sign in a program that only reads. */
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
