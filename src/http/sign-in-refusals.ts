import type { RefusalCode } from '../domain/refusal.ts'

/** The responses to refusals about how members come and sign in: providers and directories, and about their roles. */
export const signInRefusals = {
  sign_in_provider_exists: [409, 'a sign-in provider with this id already exists; choose another id'],
  sign_in_provider_not_found: [404, 'sign-in provider not found'],
  sign_in_provider_limit: [
    409,
    'a workspace has at most 10 sign-in providers for members and 100 for customers; delete one first',
  ],
  sign_in_issuer_taken: [
    409,
    'the same people already have a sign-in provider with this issuer; change that one',
  ],
  sign_in_issuer_not_allowed: [
    422,
    'the issuer must be an https URL with a public address, without credentials, query and fragment',
  ],
  sign_in_roles_of_others: [
    422,
    'members get roles of members, people of an organization get administrator or member, other customers none; change the roles',
  ],
  sign_in_provider_wanted: [409, 'the workspace has no sign-in provider for members; add one first'],
  scim_group_not_found: [404, 'group not found'],
  scim_group_exists: [409, 'a group with this displayName already exists; change that one'],
  scim_group_limit: [409, 'a workspace has at most 200 groups; assign fewer groups in the directory'],
  scim_members_limit: [409, 'a group has at most 2,000 members; assign smaller groups in the directory'],
  scim_member_unknown: [400, 'members holds an id that no user has; send ids of users, and no groups'],
  scim_scope_alone: [422, 'the scope scim stands alone; create another token for the other scopes'],
  role_exists: [409, 'a role with this name already exists; choose another name'],
  role_not_found: [404, 'role not found'],
  role_limit: [409, 'a workspace has at most 50 custom roles; delete one first'],
  role_in_use: [
    409,
    'a member has this role, or a sign-in provider or the directory gives it; give them another role first',
  ],
  scope_not_for_roles: [422, 'a role cannot have the scope scim, which manages members; leave it out'],
} satisfies Partial<Record<RefusalCode, [status: number, message: string]>>
