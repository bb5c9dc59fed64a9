import { z } from 'zod'
import type { PresentProduct } from '../../../../projections/products/queries.ts'
import { addKeyType, changeKeyType } from '../../../commands/products.ts'
import type { KeyType } from '../../../domain/products/key-type.ts'
import { findKeyType } from '../../../domain/products/product.ts'
import { SlugInPath } from '../../../domain/values.ts'
import { deleteKeyType } from '../../../gate/operations/delete-key-type.ts'
import type { ApprovalPorts } from '../../../gate/ports.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import { gatedRoute } from '../../../http/gate.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import { notFound, Problem } from '../../../http/problem.ts'
import { answer, errors } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { requireProduct } from './products.ts'
import {
  keyTypeChange,
  keyTypeChangeFrom,
  keyTypeFrom,
  keyTypeIn,
  keyTypeOut,
  keyTypeView,
} from './schemas.ts'

const path = '/v1/products/:productId/key-types'

function requireKeyType(product: PresentProduct, keyTypeId: string): KeyType {
  const keyType = findKeyType(product, keyTypeId)
  if (!keyType) throw notFound('key type')
  return keyType
}

export function keyTypeRoutes(app: ZodApp, ports: ApprovalPorts & Ports<'newId'>): void {
  listRoute(app, ports)
  addRoute(app, ports)
  changeRoute(app, ports)
  deleteRoute(app, ports)
}

function listRoute(app: ZodApp, ports: Ports<'findProduct'>): void {
  app.get(
    path,
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'listKeyTypes',
        tags: ['Key types'],
        summary: "List a product's key types, oldest first",
        description: 'All of them, on one page: a product has few.',
        params: z.strictObject({ productId: SlugInPath }),
        response: {
          200: answer(
            'The key types',
            z.object({ keyTypes: z.array(keyTypeOut).meta({ description: 'The key types, oldest first' }) }),
          ),
          ...errors(400, 403, 404),
        },
      },
    },
    async (request) => {
      const product = await requireProduct(ports, callerIn(request).tenantId, request.params.productId)
      return { keyTypes: product.keyTypes.map(keyTypeView) }
    },
  )
}

function addRoute(
  app: ZodApp,
  ports: Ports<'execute' | 'findProduct' | 'newId' | 'now' | 'randomBytes'>,
): void {
  app.post(
    path,
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'createKeyType',
        tags: ['Key types'],
        summary: 'Add a key type to a product',
        description:
          'What the body omits is as in the key type of a new product: one device, perpetual, no entitlements, not for sale.',
        params: z.strictObject({ productId: SlugInPath }),
        body: keyTypeIn,
        response: {
          201: answer('The key type', z.object({ created: keyTypeOut })),
          ...errors(400, 403, 404, 409),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const keyType = keyTypeFrom(request.body)
      const { productId } = request.params
      const own = runPorts(request, ports)
      const product = await addKeyType(own, tenantId, productId, keyType, runOriginOf(request))
      void reply.code(201)
      return { created: keyTypeView(requireKeyType(product, keyType.keyTypeId)) }
    },
  )
}

function changeRoute(app: ZodApp, ports: Ports<'execute' | 'findProduct' | 'now'>): void {
  app.patch(
    `${path}/:keyTypeId`,
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'updateKeyType',
        tags: ['Key types'],
        summary: 'Change a key type; omitted fields keep their value',
        description:
          'Existing licenses keep their device limit and expiry; their entitlements and the values of these change with the key type. ' +
          'An entitlement that is removed takes its value with it. With `dryRun=true` it answers how many licenses that reaches, ' +
          'and changes nothing.',
        params: z.strictObject({ productId: SlugInPath, keyTypeId: SlugInPath }),
        body: keyTypeChange,
        response: {
          200: answer('The key type', z.object({ updated: keyTypeOut })),
          ...errors(400, 403, 404, 422),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { productId, keyTypeId } = request.params
      const { keyTypeId: requested, ...fields } = request.body
      if (requested !== undefined && requested !== keyTypeId) {
        requireKeyType(await requireProduct(ports, tenantId, productId), keyTypeId)
        throw new Problem(422, 'invalid_request', 'keyTypeId cannot be changed; add another key type instead')
      }
      const change = keyTypeChangeFrom(fields)
      const product = await changeKeyType(ports, tenantId, productId, keyTypeId, change, originOf(request))
      return { updated: keyTypeView(requireKeyType(product, keyTypeId)) }
    },
  )
}

function deleteRoute(app: ZodApp, ports: ApprovalPorts): void {
  gatedRoute(app, ports, deleteKeyType, {
    operationId: 'deleteKeyType',
    tags: ['Key types'],
    summary: 'Delete a key type that no live license references',
    description:
      'Revoked and expired licenses keep their entitlements. A product needs at least one key type.',
    response: {
      200: answer(
        'The key type is deleted',
        z.object({ deleted: z.literal(true).meta({ description: 'Always true: it is deleted' }) }),
      ),
      ...errors(404, 409),
    },
    reply: () => ({ deleted: true }),
  })
}
