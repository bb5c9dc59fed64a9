import { z } from 'zod'
import { RoleId } from '../members/roles.ts'
import { Scope } from '../tokens/events.ts'
import { Moment, Slug, text } from '../values.ts'

/** The name of a custom role. A colon separates names from roles in forms. */
export const RoleName = text(60).regex(/^[^:]*$/, 'must not contain a colon')

/** The operation that led to the event. */
const operationId = z.string().min(1)

const role = { operationId, roleId: RoleId, name: RoleName, scopes: z.array(Scope).min(1) }

/** Everything a `role-<tenant>` stream may hold: the custom roles of a workspace. A recorded shape is never edited: add a new type. */
export const CustomRoleEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('CustomRoleAdded'),
    data: z.strictObject({ tenantId: Slug, ...role, at: Moment }),
  }),
  z.object({ type: z.literal('CustomRoleChanged'), data: z.strictObject({ ...role, at: Moment }) }),
  z.object({
    type: z.literal('CustomRoleRemoved'),
    data: z.strictObject({ operationId, roleId: RoleId, at: Moment }),
  }),
])
export type CustomRoleEvent = z.infer<typeof CustomRoleEvent>
