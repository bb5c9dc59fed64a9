import { z } from 'zod'
import type { ByAddressPorts } from '../../../commands/customers/by-address.ts'
import {
  changeCustomer,
  createCustomer,
  linkLicense,
  requireCustomer,
  unlinkLicense,
} from '../../../commands/customers/customers.ts'
import { linkByAddress, mostLinked } from '../../../commands/customers/link-by-address.ts'
import { replaceOverrides } from '../../../commands/customers/overrides.ts'
import { asSeenByReseller, requireOwnCustomer } from '../../../commands/resellers/licenses.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { eraseCustomer } from '../../../gate/operations/erase-customer.ts'
import type { ApprovalPorts } from '../../../gate/ports.ts'
import { customerAsOf } from '../../../history/as-of.ts'
import { callerIn, originOf, resellerOf } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { gatedRoute } from '../../../http/gate.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import { asOfFrom, asOfQuery } from '../../../http/query.ts'
import { answer, errors, onlyId, pageOf, pageQuery, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { listCustomersSought } from '../../../search/people.ts'
import { answerPage } from '../page.ts'
import { mergeRoutes } from './merge.ts'
import { noteRoutes } from './notes.ts'
import { ofCustomerRoutes } from './of-customer.ts'
import { peopleRoutes } from './people.ts'
import {
  customerChange,
  customerFilterQuery,
  customerIn,
  customerOut,
  overridesFrom,
  overridesIn,
  placeIn,
} from './schemas.ts'
import { oneCustomer, shown, views } from './shown.ts'

export function customerRoutes(app: ZodApp, ports: ApprovalPorts & Ports<'newId'>, cursors: Cursors): void {
  listRoute(app, ports, cursors)
  createRoute(app, ports)
  readRoute(app, ports)
  changeRoute(app, ports)
  linkRoute(app, ports)
  unlinkRoute(app, ports)
  linkByAddressRoute(app, ports)
  mergeRoutes(app, ports)
  ofCustomerRoutes(app, ports, cursors)
  entitlementsRoute(app, ports)
  noteRoutes(app, ports, cursors)
  peopleRoutes(app, ports, cursors)
  eraseRoute(app, ports)
}

function listRoute(app: ZodApp, ports: Ports<'db' | 'subjects'>, cursors: Cursors): void {
  app.get(
    '/v1/customers',
    {
      config: { scope: 'customers:read', resellers: true },
      schema: {
        operationId: 'listCustomers',
        tags: ['Customers'],
        summary: 'List customers, newest first',
        description:
          'Filters may be combined. Case and accents of a name do not matter. A page by name may have fewer customers than ' +
          '`limit` although more follow. A name that too many people have is 422.',
        querystring: z.strictObject({ ...pageQuery, ...customerFilterQuery }),
        response: { 200: answer('A page of customers', pageOf(customerOut)), ...errors(400, 403, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { email, name } = request.query
      const resellerId = resellerOf(request)?.resellerId
      const sought = { email, name, resellerId }
      return answerPage(
        cursors,
        [
          tenantId,
          'customers',
          ...((email ?? name) ? [email ?? null, name ?? null] : []),
          ...(resellerId === undefined ? [] : [{ resellerId }]),
        ],
        request.query,
        (keyset) => listCustomersSought(ports, tenantId, sought, keyset),
        async (entries) =>
          views(
            ports,
            tenantId,
            resellerId === undefined ? entries : await asSeenByReseller(ports, resellerId, entries),
          ),
      )
    },
  )
}

function createRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'randomBytes' | 'subjects'>,
): void {
  app.post(
    '/v1/customers',
    {
      config: { scope: 'customers:write', resellers: true, dryRun: true },
      schema: {
        operationId: 'createCustomer',
        tags: ['Customers'],
        summary: 'Create a customer',
        description:
          'Two customers may have the same email address. The email address and the name are stored encrypted.',
        body: customerIn,
        response: { 201: answer('The customer', oneCustomer), ...errors(400, 403, 422) },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const { email, name = null, metadata = {}, meters } = request.body
      const resellerId = resellerOf(request)?.resellerId
      if (resellerId !== undefined && meters !== undefined) throw new Refusal('reseller_terms')
      const own = runPorts(request, ports)
      const entry = await createCustomer(
        own,
        tenantId,
        { email, name, metadata, meters, resellerId },
        runOriginOf(request),
      )
      void reply.code(201)
      return shown(ports, tenantId, entry)
    },
  )
}

function readRoute(app: ZodApp, ports: Ports<'db' | 'ledger' | 'now' | 'subjects'>): void {
  app.get(
    '/v1/customers/:id',
    {
      config: { scope: 'customers:read', resellers: true },
      schema: {
        operationId: 'getCustomer',
        tags: ['Customers'],
        summary: 'Read a customer, now or at a past moment',
        description:
          'With `asOf`, the overrides and the metadata are those of that moment. A person who was erased since is null there too.',
        params: onlyId,
        querystring: asOfQuery,
        response: { 200: answer('The customer', oneCustomer), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId, customerId: id } = placeIn(request)
      const asOf = asOfFrom(request.query.asOf)
      const reseller = resellerOf(request)
      if (reseller) await requireOwnCustomer(ports, reseller, id)
      const entry = asOf
        ? await customerAsOf(ports, tenantId, id, asOf)
        : await requireCustomer(ports, tenantId, id)
      const [own = entry] = reseller ? await asSeenByReseller(ports, reseller.resellerId, [entry]) : []
      return shown(ports, tenantId, own)
    },
  )
}

function linkRoute(app: ZodApp, ports: Ports<'db' | 'execute' | 'now' | 'subjects'>): void {
  app.post(
    '/v1/customers/:id/link-license',
    {
      config: { scope: 'customers:write', dryRun: true },
      schema: {
        operationId: 'linkLicense',
        tags: ['Customers'],
        summary: 'Link a license to a customer; repeating it changes nothing',
        description:
          'A license that was linked to another customer has to be unlinked from them first, unless only its email address linked it.',
        params: onlyId,
        body: z
          .strictObject({
            licenseId: text(100),
            reason: text(500).optional().meta({ description: "Shown in the license's history" }),
          })
          .meta({ example: { licenseId: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc' } }),
        response: { 200: answer('The customer', oneCustomer), ...errors(400, 403, 404, 409) },
      },
    },
    async (request) => {
      const { tenantId, customerId: id } = placeIn(request)
      const { licenseId, reason = null } = request.body
      return shown(
        ports,
        tenantId,
        await linkLicense(ports, tenantId, id, licenseId, originOf(request), reason),
      )
    },
  )
}

function unlinkRoute(app: ZodApp, ports: Ports<'db' | 'execute' | 'now' | 'subjects'>): void {
  app.post(
    '/v1/customers/:id/unlink-license',
    {
      config: { scope: 'customers:write', dryRun: true },
      schema: {
        operationId: 'unlinkLicense',
        tags: ['Customers'],
        summary: 'Unlink a license from a customer; repeating it changes nothing',
        description: "The license loses the customer's entitlement overrides with the next validate.",
        params: onlyId,
        body: z
          .strictObject({ licenseId: text(100) })
          .meta({ example: { licenseId: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc' } }),
        response: {
          200: answer('The customer', oneCustomer, { customer: { licenseIds: [] } }),
          ...errors(400, 403, 404, 409),
        },
      },
    },
    async (request) => {
      const { tenantId, customerId: id } = placeIn(request)
      const { licenseId } = request.body
      const origin = originOf(request)
      return shown(ports, tenantId, await unlinkLicense(ports, tenantId, id, licenseId, origin))
    },
  )
}

function linkByAddressRoute(app: ZodApp, ports: ByAddressPorts): void {
  app.post(
    '/v1/customers/link-licenses',
    {
      config: { scope: 'customers:write', dryRun: true },
      schema: {
        operationId: 'linkLicensesByAddress',
        tags: ['Customers'],
        summary: "Link licenses without a customer to the customers with their holders' email addresses",
        description:
          `The oldest ${mostLinked} of them, with new customers where there are none; repeat it until none are left. Licenses that were ` +
          'unlinked from a customer stay without one.',
        response: {
          200: answer(
            'What was linked',
            z.object({
              linked: z.int().meta({ description: 'How many licenses were linked', example: 500 }),
              left: z.int().meta({ description: 'How many are left; 0 when it is done', example: 1371 }),
            }),
          ),
          ...errors(403),
        },
      },
    },
    async (request) => linkByAddress(ports, callerIn(request).tenantId, originOf(request)),
  )
}

function changeRoute(app: ZodApp, ports: Ports<'db' | 'execute' | 'now' | 'subjects'>): void {
  app.patch(
    '/v1/customers/:id',
    {
      config: { scope: 'customers:write', dryRun: true },
      schema: {
        operationId: 'updateCustomer',
        tags: ['Customers'],
        summary: 'Change a customer; omitted fields keep their value',
        description: 'Their licenses keep the email address and the name that they were issued for.',
        params: onlyId,
        body: customerChange,
        response: { 200: answer('The customer', oneCustomer), ...errors(400, 403, 404, 409) },
      },
    },
    async (request) => {
      const { tenantId, customerId: id } = placeIn(request)
      const origin = originOf(request)
      return shown(ports, tenantId, await changeCustomer(ports, tenantId, id, request.body, origin))
    },
  )
}

function entitlementsRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now' | 'subjects'>,
): void {
  app.patch(
    '/v1/customers/:id/entitlements',
    {
      config: { scope: 'customers:write', dryRun: true },
      schema: {
        operationId: 'replaceEntitlementOverrides',
        tags: ['Customers'],
        summary: "Replace a customer's entitlement overrides; they apply from the next validate",
        description:
          "A license grants its key type's entitlements (or the fallback ones) and those granted to its customer, " +
          'except those revoked from its customer, whatever the order of the overrides. The value of an override replaces that ' +
          'of the key type; of several, that for the product counts before that for all products, then that which ends first.',
        params: onlyId,
        body: overridesIn,
        response: { 200: answer('The customer', oneCustomer), ...errors(400, 403, 404, 422) },
      },
    },
    async (request) => {
      const { tenantId, customerId: id } = placeIn(request)
      const overrides = overridesFrom(request.body)
      return shown(ports, tenantId, await replaceOverrides(ports, tenantId, id, overrides, originOf(request)))
    },
  )
}

const erased = { customer: { email: null, name: null, erasedAt: '2026-11-24T14:05:12.000Z' } }

function eraseRoute(app: ZodApp, ports: ApprovalPorts): void {
  gatedRoute(app, ports, eraseCustomer, {
    operationId: 'eraseCustomer',
    tags: ['Customers'],
    summary: 'Erase the person behind a customer everywhere; their licenses stay and are marked',
    description:
      "The person's address and name become unreadable in the log, the tables and everything encrypted, immediately. Every " +
      'customer with the same address is the same person. The customer stays, with `erasedAt`.',
    response: { 200: answer('The customer, erased', oneCustomer, erased), ...errors(404, 409) },
    reply: async (entry) => shown(ports, entry.customer.tenantId, entry),
  })
}
