import { z } from 'zod'
import { findTenant } from '../../../projections/tenants.ts'
import { changeCustomersByAddress, renameTenant } from '../../commands/tenants.ts'
import { Plan, TenantName } from '../../domain/tenants/events.ts'
import { Slug } from '../../domain/values.ts'
import { callerIn, originOf } from '../../http/authenticate.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errors, momentOut } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'

const customersByAddress = z.boolean().meta({
  description:
    "Whether licenses that are issued from now on belong to the customer with their holder's email address, who is created where there is none",
  example: true,
})

const workspaceIn = z
  .strictObject({
    name: TenantName.optional().meta({ description: 'Shown on pages, in mails and in the portal' }),
    customersByAddress: customersByAddress.optional(),
  })
  .refine((body) => Object.keys(body).length > 0, { error: 'Send what to change.' })
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
      customersByAddress,
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
    const customersByAddress = !tenant.noCustomersByAddress
    return { workspace: { tenantId, name, plan, status, customersByAddress, createdAt } }
  }

  app.get(
    '/v1/workspace',
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'getWorkspace',
        tags: ['Workspace'],
        summary: 'Read the name, the plan and the settings of the workspace',
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
        operationId: 'updateWorkspace',
        tags: ['Workspace'],
        summary: 'Change the name or a setting of the workspace; omitted fields keep their value',
        description:
          'A new name is on pages and in mails from now on; mails that were sent keep the old one. The ID stays the same.',
        body: workspaceIn,
        response: { 200: answer('The workspace', workspaceOut), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { name, customersByAddress } = request.body
      if (name !== undefined) await renameTenant(ports, tenantId, name, originOf(request))
      if (customersByAddress !== undefined)
        await changeCustomersByAddress(ports, tenantId, customersByAddress, originOf(request))
      return view(tenantId)
    },
  )
}
