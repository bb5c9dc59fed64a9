import { z } from 'zod'
import { GivenRole } from '../members/roles.ts'
import { Moment, Slug, text } from '../values.ts'

/** The name of a group, as the directory has it. */
export const GroupName = text(256)

const MappedGroup = z.strictObject({
  group: GroupName.meta({ description: 'The name of a group of the directory', example: 'Licensing admins' }),
  role: GivenRole.meta({
    description: 'The role that it gives, built in or the id of a custom one',
    example: 'admin',
  }),
})

/** How the members of a directory get their roles. */
export const ScimSettings = z.strictObject({
  /** The first one whose group a member is in gives the role; without any, members keep the role that they have. */
  roles: z.array(MappedGroup).max(50),
  /** For members whom no group gives a role. Null: they have no access. */
  defaultRole: GivenRole.nullable(),
})
export type ScimSettings = z.infer<typeof ScimSettings>

const groupId = z.string().min(1)
const memberIds = z.array(z.string().min(1))

/** Everything a `scim-<tenant>` stream may hold. A recorded shape is never edited: add a new type. */
export const ScimEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ScimSettingsChanged'),
    data: ScimSettings.extend({ tenantId: Slug, operationId: z.string().min(1), at: Moment }),
  }),
  z.object({
    type: z.literal('ScimGroupAdded'),
    data: z.strictObject({
      tenantId: Slug,
      groupId,
      displayName: GroupName,
      externalId: text(256).nullable(),
      memberIds,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('ScimGroupChanged'),
    data: z.strictObject({
      groupId,
      displayName: GroupName,
      externalId: text(256).nullable(),
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('ScimGroupMembersChanged'),
    data: z.strictObject({ groupId, added: memberIds, removed: memberIds, at: Moment }),
  }),
  z.object({ type: z.literal('ScimGroupRemoved'), data: z.strictObject({ groupId, at: Moment }) }),
])
export type ScimEvent = z.infer<typeof ScimEvent>
