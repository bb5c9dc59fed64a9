import { z } from 'zod'
import { readScim } from '../../../projections/scim.ts'
import type { Scim } from '../../domain/scim/scim.ts'
import { scimFields, setScim } from '../../gate/operations/scim.ts'
import type { ApprovalPorts } from '../../gate/ports.ts'
import { callerIn } from '../../http/authenticate.ts'
import { gatedRoute } from '../../http/gate.ts'
import { answer, errors } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { scimBaseUrl } from '../scim/routes.ts'

const scimOut = z
  .object({
    baseUrl: z.string().meta({
      description: 'What directories call the tenant URL or the base URL',
      example: 'https://licenses.acme.example/scim/v2',
    }),
    ...scimFields,
    groups: z
      .array(z.string().meta({ description: 'The name of a group', example: 'Licensing admins' }))
      .meta({
        description: 'The names of the groups that the directory has sent, in the order of their arrival',
      }),
  })
  .meta({ id: 'ScimSettings', description: 'How a directory manages the members of the workspace' })

const one = z.object({ scim: scimOut })

/** The directory of the workspace. The directory itself calls `/scim/v2`. */
export function scimSettingRoutes(app: ZodApp, ports: ApprovalPorts, baseUrl: string): void {
  const view = ({ settings: { roles, defaultRole }, groups }: Scim): z.infer<typeof one> => ({
    scim: {
      baseUrl: scimBaseUrl(baseUrl),
      roles,
      defaultRole,
      groups: groups.map(({ displayName }) => displayName),
    },
  })
  app.get(
    '/v1/scim',
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'getScim',
        tags: ['Workspace'],
        summary: 'Read how a directory manages the members of the workspace',
        description:
          'A directory, such as Microsoft Entra or Okta, calls `/scim/v2` with a token that has the scope `scim`.',
        response: { 200: answer('The settings', one), ...errors(403) },
      },
    },
    async (request) => view((await readScim(ports.db, callerIn(request).tenantId)).scim),
  )
  gatedRoute(app, ports, setScim, {
    operationId: 'setScim',
    tags: ['Workspace'],
    summary: 'Set which groups of the directory give which roles',
    description:
      'Members whom the directory manages get the role of their groups at once. The last owner stays one, whatever their groups are.',
    response: { 200: answer('The settings', one), ...errors(404) },
    reply: view,
  })
}
