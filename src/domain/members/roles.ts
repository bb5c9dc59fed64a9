import { z } from 'zod'
import { combinableScopes, Scope } from '../tokens/events.ts'

export const Role = z.enum(['owner', 'admin', 'developer', 'support', 'approver', 'auditor'])
export type Role = z.infer<typeof Role>

/** The role of a member: one of the vendor's people has a {@link Role}, and a person of a reseller is nothing else. */
export const MemberRole = z.enum([...Role.options, 'reseller'])
export type MemberRole = z.infer<typeof MemberRole>

/** What a member may do in the dashboard besides reading, which every role of the vendor's people allows. */
export type Permission =
  /** Request dangerous license changes, which need an approval. */
  | 'ask_for_changes'
  | 'decide_confirmations'
  /** Mint, edit, suspend and import licenses, free seats, send keys, and change customers. */
  | 'change_licenses'
  /** Products, key types, and how they are sold. */
  | 'manage_products'
  /** Payment providers with their mappings, webhook endpoints and deliveries, SDK keys and checkout keys. */
  | 'manage_connections'
  | 'manage_tokens'
  /** Members, and whether another member has to approve. */
  | 'manage_members'
  /** Mail, signing keys, exports of all licenses, and everything else of the tenant. */
  | 'manage_settings'

type RoleRights = {
  /** The description shown where a role is chosen. */
  summary: string
  permissions: readonly Permission[]
  /** The scopes that the member may grant to an API client; `danger` is off by default, and `scim` makes owners. */
  grantable: readonly Scope[]
}

const reading = Scope.options.filter((scope) => scope.endsWith(':read'))

/** All roles and their rights. A member who can only read can grant only reading scopes. */
export const rightsOf: Record<MemberRole, RoleRights> = {
  owner: {
    summary: 'Full access, including members, settings and approvals',
    permissions: [
      'ask_for_changes',
      'decide_confirmations',
      'change_licenses',
      'manage_products',
      'manage_connections',
      'manage_tokens',
      'manage_members',
      'manage_settings',
    ],
    grantable: Scope.options,
  },
  admin: {
    summary: 'Does everything except manage members and the approval rule',
    permissions: [
      'ask_for_changes',
      'decide_confirmations',
      'change_licenses',
      'manage_products',
      'manage_connections',
      'manage_tokens',
      'manage_settings',
    ],
    grantable: combinableScopes,
  },
  developer: {
    summary: 'Manages API tokens, webhooks and payment providers, and reads everything',
    permissions: ['manage_connections', 'manage_tokens'],
    grantable: combinableScopes.filter((scope) => scope !== 'danger'),
  },
  support: {
    summary: 'Changes licenses and customers, and requests what needs an approval',
    permissions: ['ask_for_changes', 'change_licenses'],
    grantable: reading,
  },
  approver: {
    summary: 'Reads everything and approves or denies dangerous requests',
    permissions: ['ask_for_changes', 'decide_confirmations'],
    grantable: reading,
  },
  auditor: { summary: 'Reads everything', permissions: [], grantable: reading },
  reseller: {
    summary: 'Mints licenses for customers of a reseller, and sees only those',
    permissions: [],
    grantable: [],
  },
}

/** Whether a member may create a token that manages members. */
export const mayCreateScimToken = (role: MemberRole): boolean => rightsOf[role].grantable.includes('scim')

export const may = (role: MemberRole, permission: Permission): boolean =>
  rightsOf[role].permissions.includes(permission)
