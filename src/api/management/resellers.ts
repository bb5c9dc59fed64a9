import { z } from 'zod'
import { listResellers } from '../../../projections/resellers.ts'
import { changeReseller, createReseller, requireReseller } from '../../commands/resellers/resellers.ts'
import { Refusal } from '../../domain/refusal.ts'
import { closeReseller, resellerId } from '../../gate/operations/close-reseller.ts'
import type { ApprovalPorts } from '../../gate/ports.ts'
import { callerIn, originOf, resellerOf } from '../../http/authenticate.ts'
import type { Cursors } from '../../http/cursor.ts'
import { gatedRoute } from '../../http/gate.ts'
import { runOriginOf, runPorts } from '../../http/idempotency.ts'
import { resellerFields, resellerOut, resellerView } from '../../http/reseller.ts'
import { answer, errors, pageOf, pageQuery } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { answerPage } from './page.ts'

const oneReseller = z.object({ reseller: resellerOut })
const params = z.strictObject({ id: resellerId })
const example = {
  name: 'Northwind Software',
  quotas: [{ productId: 'editor', keyTypeId: 'default', licenses: 50 }],
}
const unused = { reseller: { quotas: [{ used: 0 }] } }

/** Those who sell licenses of the vendor to customers of their own. Their tokens are made in the dashboard. */
export function resellerRoutes(app: ZodApp, ports: ApprovalPorts & Ports<'newId'>, cursors: Cursors): void {
  listRoute(app, ports, cursors)
  createRoute(app, ports)
  readRoute(app, ports)
  changeRoute(app, ports)
  gatedRoute(app, ports, closeReseller, {
    operationId: 'closeReseller',
    tags: ['Resellers'],
    summary: 'Close a reseller for good',
    description:
      'Its tokens and members reach nothing from the next request on. Its customers and licenses stay.',
    response: {
      200: answer('The reseller', oneReseller, {
        reseller: { status: 'closed', closedAt: '2026-11-24T14:05:12.000Z' },
      }),
      ...errors(404, 409),
    },
    reply: (entry) => ({ reseller: resellerView(entry) }),
  })
}

function listRoute(app: ZodApp, ports: Ports<'db'>, cursors: Cursors): void {
  app.get(
    '/v1/resellers',
    {
      config: { scope: 'customers:read' },
      schema: {
        operationId: 'listResellers',
        tags: ['Resellers'],
        summary: 'List resellers, newest first',
        description: 'Closed ones too.',
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of resellers', pageOf(resellerOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      return answerPage(
        cursors,
        [tenantId, 'resellers'],
        request.query,
        (keyset) => listResellers(ports.db, tenantId, keyset),
        (entries) => entries.map(resellerView),
      )
    },
  )
}

function createRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'findProduct' | 'newId' | 'now' | 'randomBytes'>,
): void {
  app.post(
    '/v1/resellers',
    {
      config: { scope: 'customers:write', dryRun: true },
      schema: {
        operationId: 'createReseller',
        tags: ['Resellers'],
        summary: 'Create a reseller, who mints licenses within quotas',
        description:
          'A reseller sees the customers that they created and the licenses that they minted for them, and nothing else. Create their ' +
          'tokens and invite their people on their page in the dashboard.',
        body: z.strictObject(resellerFields).meta({ example }),
        response: { 201: answer('The reseller', oneReseller, unused), ...errors(400, 403, 404) },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const own = runPorts(request, ports)
      const entry = await createReseller(own, tenantId, request.body, runOriginOf(request))
      void reply.code(201)
      return { reseller: resellerView(entry) }
    },
  )
}

function readRoute(app: ZodApp, ports: Ports<'db'>): void {
  app.get(
    '/v1/resellers/:id',
    {
      config: { scope: 'customers:read', resellers: true },
      schema: {
        operationId: 'getReseller',
        tags: ['Resellers'],
        summary: 'Read a reseller, with what is used of their quotas',
        description: 'A token of a reseller reads its own; `GET /v1/tokens/verify` says which that is.',
        params,
        response: { 200: answer('The reseller', oneReseller), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { id } = request.params
      const own = resellerOf(request)
      if (own && own.resellerId !== id) throw new Refusal('reseller_not_found')
      return { reseller: resellerView(await requireReseller(ports, tenantId, id)) }
    },
  )
}

function changeRoute(app: ZodApp, ports: Ports<'db' | 'execute' | 'findProduct' | 'now'>): void {
  app.patch(
    '/v1/resellers/:id',
    {
      config: { scope: 'customers:write', dryRun: true },
      schema: {
        operationId: 'updateReseller',
        tags: ['Resellers'],
        summary: 'Change the name or the quotas of a reseller; omitted fields keep their value',
        description: '`quotas` replaces all of them. None may be below what is used of it.',
        params,
        body: z
          .strictObject({ name: resellerFields.name.optional(), quotas: resellerFields.quotas.optional() })
          .meta({ example: { quotas: example.quotas } }),
        response: { 200: answer('The reseller', oneReseller), ...errors(400, 403, 404, 409, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const entry = await changeReseller(ports, tenantId, request.params.id, request.body, originOf(request))
      return { reseller: resellerView(entry) }
    },
  )
}
