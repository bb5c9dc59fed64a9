import {
  type CustomRole,
  type GivenRole,
  isRoleId,
  type RecordedRole,
  Role,
} from '../../domain/members/roles.ts'
import type { ProvidedRole } from '../../domain/sign-in-providers/events.ts'

/** The custom roles of a workspace, for whatever lets a person choose or read one. */
export type Roles = readonly CustomRole[]

/** All roles that members can be given, with what they are called: the built-in ones, then the custom ones. */
export const roleChoices = (roles: Roles): (readonly [role: GivenRole, name: string])[] => [
  ...Role.options.map((role) => [role, role] as const),
  ...roles.map(({ roleId, name }) => [roleId, name] as const),
]

/** What a recorded role allows now. */
export const heldRole = (roles: Roles, role: RecordedRole): RecordedRole | CustomRole =>
  roles.find(({ roleId }) => roleId === role) ?? role

/** What a recorded role is called in a form: its name, or its id once it is gone. */
export const nameOfRole = (roles: Roles, role: RecordedRole | ProvidedRole): string =>
  roles.find(({ roleId }) => roleId === role)?.name ?? role

/** The role that a person names: by the name, whatever its case, or by the id. What names none stays as it is. */
export function roleNamed(roles: Roles, typed: string): string {
  const wanted = typed.toLowerCase()
  if (isRoleId(wanted)) return wanted
  return roleChoices(roles).find(([, name]) => name.toLowerCase() === wanted)?.[0] ?? typed
}

/** The names of all roles, in one line. */
export const roleList = (roles: Roles): string =>
  roleChoices(roles)
    .map(([, name]) => name)
    .join(', ')
