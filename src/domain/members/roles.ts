import { z } from 'zod'
import { combinableScopes, Scope } from '../tokens/events.ts'

export const Role = z.enum(['owner', 'admin', 'developer', 'support', 'approver', 'auditor'])
export type Role = z.infer<typeof Role>

/** The role of a member: one of the vendor's people has a {@link Role}, and a person of a reseller is nothing else. */
export const MemberRole = z.enum([...Role.options, 'reseller'])
export type MemberRole = z.infer<typeof MemberRole>

/** The id of a custom role: `rol_` and a UUIDv7 in base 32. */
export const RoleId = z.templateLiteral(['rol_', z.string().regex(/^[0-9a-hjkmnp-tv-z]{26}$/)])
export type RoleId = z.infer<typeof RoleId>

/** A role that the vendor's people can be given: one of those that are built in, or the id of a custom one. */
export const GivenRole = z.union([Role, RoleId])
export type GivenRole = z.infer<typeof GivenRole>

/** The role as it is recorded of any member. */
export const RecordedRole = z.union([MemberRole, RoleId])
export type RecordedRole = z.infer<typeof RecordedRole>

/** A role that a workspace made: its members may do what an API token with these scopes may. */
export type CustomRole = { roleId: RoleId; name: string; scopes: readonly Scope[] }

/** The role of a member as it is now. An id alone is that of a custom role which is gone: it allows nothing. */
export type HeldRole = RecordedRole | CustomRole

export const isRoleId = (role: string): role is RoleId => RoleId.safeParse(role).success

/** What a member may do in the dashboard besides reading. */
export type Permission =
  /** See the requests that wait for an approval, those that were decided, and the API tokens. */
  | 'see_requests'
  /** Open the portal as a customer sees it. */
  | 'view_as_customer'
  /** See what sells, and how licenses are used. */
  | 'see_insights'
  /** Request dangerous license changes, which need an approval. */
  | 'ask_for_changes'
  | 'decide_confirmations'
  /** Mint, edit, suspend and import licenses, free seats, send keys, and change customers. */
  | 'change_licenses'
  /** Products, key types, and how they are sold. */
  | 'manage_products'
  /** Request the deletion of key types, which needs an approval. */
  | 'delete_key_types'
  /** Issue the license of a sale that was parked. */
  | 'replay_sales'
  /** Payment providers with their mappings, webhook endpoints and deliveries, SDK keys and checkout keys. */
  | 'manage_connections'
  | 'manage_tokens'
  /** Members, and whether another member has to approve. */
  | 'manage_members'
  /** Mail, signing keys, exports of all licenses, and everything else of the tenant. */
  | 'manage_settings'

/** A reading scope, as what it lets a member of the vendor read in the dashboard. */
export type Reading = Extract<Scope, `${string}:read`>

/** What a page or a form may require. */
export type Right = Permission | Reading

type RoleRights = {
  /** The description shown where a role is chosen. */
  summary: string
  permissions: readonly Permission[]
  /** The scopes that the member may grant to an API client; `danger` is off by default, and `scim` makes owners. */
  grantable: readonly Scope[]
}

const isReading = (right: Right | Scope): right is Reading => right.endsWith(':read')
const reading = Scope.options.filter(isReading)

/** What every built-in role of the vendor's people allows, besides all reading. */
const everyMember = ['see_requests', 'view_as_customer', 'see_insights'] as const

/** All built-in roles and their rights. A member who can only read can grant only reading scopes. */
export const rightsOf: Record<MemberRole, RoleRights> = {
  owner: {
    summary: 'Full access, including members, settings and approvals',
    permissions: [
      ...everyMember,
      'ask_for_changes',
      'decide_confirmations',
      'change_licenses',
      'manage_products',
      'delete_key_types',
      'replay_sales',
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
      ...everyMember,
      'ask_for_changes',
      'decide_confirmations',
      'change_licenses',
      'manage_products',
      'delete_key_types',
      'replay_sales',
      'manage_connections',
      'manage_tokens',
      'manage_settings',
    ],
    grantable: combinableScopes,
  },
  developer: {
    summary: 'Manages API tokens, webhooks and payment providers, and reads everything',
    permissions: [...everyMember, 'replay_sales', 'manage_connections', 'manage_tokens'],
    grantable: combinableScopes.filter((scope) => scope !== 'danger'),
  },
  support: {
    summary: 'Changes licenses and customers, and requests what needs an approval',
    permissions: [...everyMember, 'ask_for_changes', 'change_licenses'],
    grantable: reading,
  },
  approver: {
    summary: 'Reads everything and approves or denies dangerous requests',
    permissions: [...everyMember, 'ask_for_changes', 'decide_confirmations'],
    grantable: reading,
  },
  auditor: { summary: 'Reads everything', permissions: everyMember, grantable: reading },
  reseller: {
    summary: 'Mints licenses for customers of a reseller, and sees only those',
    permissions: [],
    grantable: [],
  },
}

/**
 * The scopes that a custom role needs for each permission: those with which a token does the same over the API. With `manage_connections`,
 * members do at once what a token needs `danger` for. Null: no custom role has it, because no token can decide on requests or manage
 * tokens, and what manages members could make its holder an owner.
 */
const scopesFor: Record<Permission, readonly Scope[] | null> = {
  see_requests: ['danger'],
  view_as_customer: ['customers:read', 'licenses:read'],
  see_insights: ['licenses:read', 'usage:read'],
  ask_for_changes: ['licenses:read', 'licenses:write', 'danger'],
  change_licenses: ['licenses:read', 'licenses:write', 'customers:read', 'customers:write'],
  manage_products: ['products:read', 'products:write'],
  delete_key_types: ['products:read', 'products:write', 'danger'],
  replay_sales: ['licenses:read', 'licenses:write'],
  manage_connections: ['integrations:read', 'integrations:write', 'danger'],
  decide_confirmations: null,
  manage_tokens: null,
  manage_members: null,
  manage_settings: null,
}

/** All permissions, in one order. */
export const permissions = Object.keys(scopesFor) as Permission[]

/** The scopes that a role may grant to an API client. */
export function grantableBy(role: HeldRole): readonly Scope[] {
  if (typeof role !== 'string') return role.scopes
  return isRoleId(role) ? [] : rightsOf[role].grantable
}

export function may(role: HeldRole, right: Right): boolean {
  if (typeof role !== 'string') return lackingScopes(role, right)?.length === 0
  if (isRoleId(role)) return false
  return isReading(right) ? role !== 'reseller' : rightsOf[role].permissions.includes(right)
}

/** The scopes that a custom role needs for a right; null for one that no custom role can have. */
export const scopesOf = (right: Right): readonly Scope[] | null =>
  isReading(right) ? [right] : scopesFor[right]

/** Those of the scopes that a right needs which a custom role lacks; undefined for one that no custom role can have. */
export const lackingScopes = ({ scopes }: Pick<CustomRole, 'scopes'>, right: Right): Scope[] | undefined =>
  scopesOf(right)?.filter((scope) => !scopes.includes(scope))

/** Whether a member sees where people came from: the addresses of sign-ins and changes. */
export const seesAddresses = (role: HeldRole): boolean => role === 'auditor' || may(role, 'manage_members')

/** What a role is called. */
export const roleName = (role: HeldRole): string => {
  if (typeof role !== 'string') return role.name
  return isRoleId(role) ? 'deleted role' : role
}

/** The sentence, without its period, that says what a role allows. */
export const roleSummary = (role: HeldRole): string => {
  if (typeof role !== 'string') return `Custom role: ${role.scopes.join(', ')}`
  return isRoleId(role) ? 'The custom role was deleted, so it allows nothing' : rightsOf[role].summary
}
