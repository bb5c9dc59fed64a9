import { z } from 'zod'
import { listSigningKeys } from '../../../projections/signing.ts'
import { findTenant } from '../../../projections/tenants.ts'
import { coalesce } from '../../async/coalesce.ts'
import { momentOf } from '../../commands/origin.ts'
import { signingKeyOf } from '../../commands/signing-keys.ts'
import { keysetSeconds } from '../../domain/signing/signing.ts'
import { isSlug } from '../../domain/values.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import { etagOf, hasVersion } from '../../http/unchanged.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { keysById } from '../../signing/keyset.ts'
import { answerPreflight } from './edge.ts'

const path = '/:tenantId/.well-known/service-keys'

const keyset = z.object({
  keys: z.record(z.string(), z.string()).meta({
    description: 'By `kid`: raw Ed25519 public keys, base64',
    example: { '21fe31dfa154a261': '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=' },
  }),
})

/** The public keys that verify a tenant's signatures. */
export function keysetRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'now' | 'randomBytes' | 'secrets'>,
): void {
  const findKeys = createKeysLookup(ports)
  answerPreflight(app, path)
  app.get(
    path,
    {
      config: { anyOrigin: true },
      schema: {
        operationId: 'getKeyset',
        tags: ['Client'],
        summary: "Read the public keys that verify the tenant's leases and settings",
        description:
          'Apps verify leases, settings and signed refusals with them. Read them again when an answer has a `kid` that is not among them.',
        security: [],
        params: z.object({ tenantId: z.string() }),
        response: {
          200: answer(
            'The current and next signing keys, and those whose signatures are still valid',
            keyset,
          ),
          304: { description: 'Unchanged since the ETag that was sent' },
          ...errorsWith(errorBody, 404),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = request.params
      const found = isSlug(tenantId) ? await findKeys(tenantId) : undefined
      if (!found) throw notFound('tenant')
      // A tenant without a signing key gets its first one now, so that no cache keeps an empty keyset.
      const isFirst = found.keys.length === 0 && found.tenant.status !== 'closed'
      const cause = { requestId: request.id, actor: 'system:keyset' }
      const keys = isFirst ? [await signingKeyOf(ports, tenantId, cause)] : found.keys
      const body = { keys: keysById(keys) }
      const version = { etag: etagOf(JSON.stringify(body)), seconds: keysetSeconds }
      if (hasVersion(request, reply, version)) return reply.code(304).send()
      return body
    },
  )
}

/** Finds a tenant and its signing keys. Concurrent look-ups share the queries: anyone may read keysets, as often as they like. */
function createKeysLookup({ db, now }: Ports<'db' | 'now'>) {
  return coalesce(async (tenantIds: readonly string[]) => {
    const distinct = [...new Set(tenantIds)]
    const found = await Promise.all(
      distinct.map(async (tenantId) => {
        const tenant = await findTenant(db, tenantId)
        return tenant && { tenant, keys: await listSigningKeys(db, tenantId, momentOf({ now })) }
      }),
    )
    const ofTenant = new Map(distinct.map((tenantId, index) => [tenantId, found[index]]))
    return tenantIds.map((tenantId) => ofTenant.get(tenantId))
  })
}
