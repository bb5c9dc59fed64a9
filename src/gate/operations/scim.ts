import { z } from 'zod'
import { readScim } from '../../../projections/scim.ts'
import { requireRoles, rolesIn } from '../../commands/custom-roles.ts'
import { changeScimSettings } from '../../commands/members/directory-groups.ts'
import { ScimSettings } from '../../domain/scim/events.ts'
import type { Scim } from '../../domain/scim/scim.ts'
import { streamName } from '../../domain/streams.ts'
import { gatedOperation } from '../operation.ts'

const { roles, defaultRole } = ScimSettings.shape

/** How members of a directory get their roles, as the interface describes it. */
export const scimFields = {
  roles: roles.meta({
    description:
      'Which group of the directory gives which role, by its exact name; of several, the first that fits counts. Empty: members keep the role that they have',
    example: [{ group: 'Licensing admins', role: 'admin' }],
  }),
  defaultRole: defaultRole.meta({
    description: 'The role of members whom no group gives one; null: they have no access',
    example: 'auditor',
  }),
}

const body = z.strictObject(scimFields).meta({
  example: { roles: [{ group: 'Licensing admins', role: 'admin' }], defaultRole: 'auditor' },
})

/** Who maps groups to roles decides who is an owner: only who manages members approves it. */
export const setScim = gatedOperation({
  name: 'scim.set',
  title: 'Change the roles of a directory',
  method: 'PUT',
  path: '/v1/scim',
  scope: 'integrations:write',
  approvedWith: 'manage_members',
  // It changes as many members as the directory has.
  unrehearsed: true,
  input: z.object({ body }),
  async check(ports, tenantId, input) {
    await requireRoles(ports, tenantId, rolesIn(input.body))
  },
  async describe(ports, tenantId, { body: { roles: mapped, defaultRole: role } }) {
    const { revision } = await readScim(ports.db, tenantId)
    return {
      summary: 'Change which roles the members of the directory have',
      details: [
        ['Roles', mapped.map(({ group, role: given }) => `${group}: ${given}`).join(', ') || 'none'],
        ['Default role', role ?? 'none'],
      ],
      state: { revision },
    }
  },
  facts: async (_, tenantId) => [
    { what: 'recorded', stream: streamName('scim', tenantId), events: ['ScimSettingsChanged'] },
  ],
  run: (ports, tenantId, input, { id, origin }): Promise<Scim> =>
    changeScimSettings(ports, tenantId, input.body, id, origin),
})
