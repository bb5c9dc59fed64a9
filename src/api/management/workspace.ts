import { z } from 'zod'
import { findTenant } from '../../../projections/tenants.ts'
import { renameTenant } from '../../commands/tenants.ts'
import { Plan, TenantName } from '../../domain/tenants/events.ts'
import { Slug } from '../../domain/values.ts'
import { callerIn, originOf } from '../../http/authenticate.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errors, momentOut } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'

const workspaceIn = z
  .strictObject({ name: TenantName.meta({ description: 'Shown on pages, in mails and in the portal' }) })
  .meta({ example: { name: 'Acme Software' } })

const workspaceOut = z.object({
  workspace: z
    .object({
      tenantId: Slug,
      name: z.string().meta({
        description: 'Shown on pages, in mails and in the portal',
        example: 'Acme Software',
      }),
      plan: Plan.meta({ description: 'The plan, which sets its limits' }),
      status: z.enum(['active', 'suspended', 'closed']).meta({
        description:
          '`suspended`: no license is issued or activated until it is resumed. `closed`: its requests get 403',
        example: 'active',
      }),
      createdAt: momentOut.meta({ example: '2026-11-02T09:30:00.000Z' }),
    })
    .meta({ id: 'Workspace', description: 'The tenant of the token, as its members see it' }),
})

type WorkspacePorts = Ports<'db' | 'execute' | 'now'>

/** The workspace of the calling token: its tenant, as its members see it. */
export function workspaceRoutes(app: ZodApp, ports: WorkspacePorts): void {
  const view = async (of: string) => {
    const tenant = await findTenant(ports.db, of)
    if (!tenant) throw notFound('tenant')
    const { tenantId, name, plan, status, createdAt } = tenant
    return { workspace: { tenantId, name, plan, status, createdAt } }
  }

  app.get(
    '/v1/workspace',
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'getWorkspace',
        tags: ['Workspace'],
        summary: 'Read the name and the plan of the workspace',
        description: 'That of the token: a token belongs to one workspace.',
        response: { 200: answer('The workspace', workspaceOut), ...errors(403) },
      },
    },
    async (request) => view(callerIn(request).tenantId),
  )

  app.patch(
    '/v1/workspace',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'renameWorkspace',
        tags: ['Workspace'],
        summary: 'Rename the workspace; its ID stays the same',
        description:
          'The new name is on pages and in mails from now on. Mails that were sent keep the old one.',
        body: workspaceIn,
        response: { 200: answer('The workspace', workspaceOut), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      await renameTenant(ports, tenantId, request.body.name, originOf(request))
      return view(tenantId)
    },
  )
}
