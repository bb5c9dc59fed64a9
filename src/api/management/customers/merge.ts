import { z } from 'zod'
import { mergeCustomer, unmergeCustomer } from '../../../commands/customers/merging.ts'
import { originOf } from '../../../http/authenticate.ts'
import { answer, errors, onlyId, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { placeIn, requireCustomerId } from './schemas.ts'
import { oneCustomer, shown } from './shown.ts'

const config = { scope: 'customers:write', dryRun: true } as const

const other = 'cus_07a1m9c4r3xq8v5n2t6w0y4zbd'

/** Merging two customers, and undoing that. */
export function mergeRoutes(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'ledger' | 'now' | 'subjects' | 'untilVisible'>,
): void {
  app.post(
    '/v1/customers/:id/merge',
    {
      config,
      schema: {
        operationId: 'mergeCustomer',
        tags: ['Customers'],
        summary: 'Merge a customer into another one; repeating it changes nothing',
        description:
          'The licenses of the customer move to the other one, and so do those that it gets later, as by its email address. Their ' +
          'entitlement overrides are those of the other customer from then on. Of more than 500 licenses, some move within seconds ' +
          'after the answer.',
        params: onlyId,
        body: z
          .strictObject({ into: text(100).meta({ description: 'The id of the customer that stays' }) })
          .meta({ example: { into: other } }),
        response: {
          200: answer('The customer, merged', oneCustomer, {
            customer: { licenseIds: [], mergedInto: other },
          }),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request) => {
      const { tenantId, customerId: id } = placeIn(request)
      const into = requireCustomerId(request.body.into)
      const entry = await mergeCustomer(ports, tenantId, { id, into }, originOf(request))
      return shown(ports, tenantId, entry)
    },
  )

  app.post(
    '/v1/customers/:id/unmerge',
    {
      config,
      schema: {
        operationId: 'unmergeCustomer',
        tags: ['Customers'],
        summary: 'Undo the merge of a customer; repeating it changes nothing',
        description:
          'The licenses that the customer had, and those that it would have got meanwhile, move back to it, but for those that a ' +
          'person linked or unlinked since.',
        params: onlyId,
        response: { 200: answer('The customer', oneCustomer), ...errors(403, 404) },
      },
    },
    async (request) => {
      const { tenantId, customerId: id } = placeIn(request)
      return shown(ports, tenantId, await unmergeCustomer(ports, tenantId, id, originOf(request)))
    },
  )
}
