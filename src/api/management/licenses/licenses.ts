import { z } from 'zod'
import { listLicenses } from '../../../../projections/licenses/queries.ts'
import { requireCustomer } from '../../../commands/customers/customers.ts'
import { type MintPorts, mintLicense } from '../../../commands/licenses/licenses.ts'
import { momentOf } from '../../../commands/origin.ts'
import { mintForReseller, requireSeenLicense } from '../../../commands/resellers/licenses.ts'
import { isId } from '../../../credentials/id.ts'
import { revokeLicense } from '../../../gate/operations/revoke-license.ts'
import type { ApprovalPorts } from '../../../gate/ports.ts'
import { callerIn, resellerOf } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { gatedRoute } from '../../../http/gate.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import { licenseDetail } from '../../../http/licenses/detail.ts'
import { licenseDetailOut, licenseOut, licenseView } from '../../../http/licenses/license.ts'
import { notFound } from '../../../http/problem.ts'
import { asOfFrom, asOfQuery } from '../../../http/query.ts'
import { answer, errors, inUtc, pageOf, pageQuery } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { unknownPerson } from '../../../vault/subjects.ts'
import { answerPage } from '../page.ts'
import { requireProduct } from '../products/products.ts'
import { filterBinding, gatherMetadata, licenseFilterFrom, licenseFilterQuery } from './filters.ts'
import { licenseIn, mintedOut, receiptUrl } from './schemas.ts'

/** @throws Problem 404 for a malformed id, as for an unknown one */
export function requireLicenseId(text: string): string {
  if (!isId('lic', text)) throw notFound('license')
  return text
}

const listQuery = z.strictObject({
  ...pageQuery,
  ...licenseFilterQuery,
})

export function licenseRoutes(
  app: ZodApp,
  ports: ApprovalPorts & Ports<'keptKeys' | 'newId'>,
  cursors: Cursors,
): void {
  listRoute(app, ports, cursors)
  mintRoute(app, ports)
  readRoute(app, ports)
  revokeRoute(app, ports)
}

function listRoute(app: ZodApp, ports: Ports<'db' | 'now' | 'subjects'>, cursors: Cursors): void {
  app.get(
    '/v1/licenses',
    {
      config: { scope: 'licenses:read', resellers: true },
      preValidation: gatherMetadata,
      schema: {
        operationId: 'listLicenses',
        tags: ['Licenses'],
        summary: 'List licenses, newest first',
        description:
          'Filters may be combined. Keys are masked: to find a license by its key, use `POST /v1/licenses/search`.',
        querystring: listQuery,
        response: { 200: answer('A page of licenses', pageOf(licenseOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const resellerId = resellerOf(request)?.resellerId
      const asked = await licenseFilterFrom(ports, tenantId, request.query)
      const filter = { ...asked, ...(resellerId !== undefined && { resellerId }) }
      const now = momentOf(ports)
      return answerPage(
        cursors,
        [tenantId, 'licenses', ...filterBinding(filter)],
        request.query,
        (keyset) => listLicenses(ports.db, tenantId, filter, now, keyset),
        async (entries) => {
          const holders = entries.map(({ license }) => license.holder)
          const people = await ports.subjects.openPeople(tenantId, holders)
          return entries.map((entry, index) => licenseView(entry, people[index] ?? unknownPerson, now))
        },
      )
    },
  )
}

/** No device has been activated yet. */
const minted = { license: { source: 'api', saleId: null, seatsUsed: 0 } }

function mintRoute(app: ZodApp, ports: MintPorts & Ports<'findProduct'>): void {
  app.post(
    '/v1/licenses',
    {
      config: { scope: 'licenses:write', resellers: true, refusedWhileSuspended: true, dryRun: true },
      schema: {
        operationId: 'mintLicense',
        tags: ['Licenses'],
        summary: 'Mint a license; its raw key is shown only in this response',
        description:
          'Issues a license of a key type without a sale. What the body does not set comes from the key type: the device limit ' +
          'times `quantity`, and the expiry from its duration. Send an `Idempotency-Key`, so that a retry mints no second license.',
        body: licenseIn,
        response: {
          201: answer('The license and its key', mintedOut, minted),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const { productId, expiresAt, updatesUntil, ...input } = request.body
      const reseller = resellerOf(request)
      const overrides = await overridesOf(ports, tenantId, input.customerId)
      const terms = {
        ...input,
        expiresAt: expiresAt && inUtc(expiresAt),
        updatesUntil: updatesUntil && inUtc(updatesUntil),
      }
      const own = runPorts(request, ports)
      const origin = runOriginOf(request)
      const { license, keyType, licenseKey } = reseller
        ? await mintForReseller(own, reseller, { ...terms, productId }, origin)
        : await mintLicense(own, await requireProduct(ports, tenantId, productId), terms, origin)
      // A license that an earlier request of the same run minted may have lost its holder since.
      const [person = unknownPerson] = origin.run?.resumed
        ? await ports.subjects.openPeople(tenantId, [license.holder])
        : [{ email: input.email ?? null, name: input.name ?? null }]
      const { entitlements, fallbackEntitlements, entitlementValues = {} } = keyType
      const entitling = { entitlements, fallbackEntitlements, entitlementValues, overrides }
      const view = licenseView({ license, revision: 0, ...entitling }, person, momentOf(own))
      void reply.code(201)
      return { license: view, licenseKey, receiptUrl: receiptUrl(app.baseUrl, view.id) }
    },
  )
}

/**
 * The entitlement overrides of a new license's customer. @throws Problem 404 when the tenant has no such customer
 */
async function overridesOf(ports: Ports<'db'>, tenantId: string, customerId: string | undefined) {
  if (customerId === undefined) return []
  const { customer } = await requireCustomer(ports, tenantId, customerId)
  return customer.overrides
}

function readRoute(app: ZodApp, ports: Ports<'db' | 'ledger' | 'now' | 'subjects'>): void {
  app.get(
    '/v1/licenses/:id',
    {
      config: { scope: 'licenses:read', resellers: true },
      schema: {
        operationId: 'getLicense',
        tags: ['Licenses'],
        summary: 'Read a license with its devices, now or at a past moment',
        description: 'Telemetry is not recorded as events, so `telemetry` is null for past moments.',
        params: z.strictObject({ id: z.string() }),
        querystring: asOfQuery,
        response: {
          200: answer('The license', z.object({ license: licenseDetailOut })),
          ...errors(400, 403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      const reseller = resellerOf(request)
      if (reseller) await requireSeenLicense(ports, reseller, licenseId)
      return {
        license: await licenseDetail(ports, tenantId, licenseId, asOfFrom(request.query.asOf)),
      }
    },
  )
}

const revoked = { license: { status: 'revoked', entitlements: [], revokedAt: '2026-11-24T14:05:12.000Z' } }

function revokeRoute(app: ZodApp, ports: ApprovalPorts): void {
  gatedRoute(app, ports, revokeLicense, {
    operationId: 'revokeLicense',
    tags: ['Licenses'],
    summary: 'Revoke a license permanently',
    description:
      'From the next validate on it is valid on no device. For a license that is to come back, use suspend; one that was revoked ' +
      'by mistake can be reinstated.',
    response: {
      200: answer('The license', z.object({ license: licenseOut }), revoked),
      ...errors(404, 409),
    },
    reply: async (entry) => {
      const { tenantId, holder } = entry.license
      const [person = unknownPerson] = await ports.subjects.openPeople(tenantId, [holder])
      return { license: licenseView(entry, person, momentOf(ports)) }
    },
  })
}
