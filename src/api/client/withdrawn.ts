import { z } from 'zod'
import { listWithdrawn } from '../../../projections/licenses/withdrawn.ts'
import { findActiveKey } from '../../../projections/signing.ts'
import { coalesce } from '../../async/coalesce.ts'
import { momentOf } from '../../commands/origin.ts'
import { signingKeyOf } from '../../commands/signing-keys.ts'
import { isSlug } from '../../domain/values.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import { etagOf, hasVersion } from '../../http/unchanged.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { armored } from '../../signing/armor.ts'
import type { ActiveKey } from '../../signing/signer.ts'
import { signWithdrawn } from '../../signing/withdrawn.ts'
import { answerPreflight } from './edge.ts'
import { clientPlace } from './schemas.ts'

const path = '/:tenantId/:productId/withdrawn'

/** How long a copy of the list may be passed on. */
const cachedSeconds = 300

/** The signed list of license files that must no longer be used, to be carried to machines without a network. */
export function withdrawnRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now' | 'randomBytes' | 'secrets' | 'signer'>,
): void {
  const find = createWithdrawnLookup(ports)
  answerPreflight(app, path)
  app.get(
    path,
    {
      config: { anyOrigin: true },
      schema: {
        operationId: 'getWithdrawnFiles',
        tags: ['Client'],
        summary: 'Read the signed list of license files that must no longer be used',
        description:
          'Files of licenses that were revoked, suspended or given another key, and of devices that lost theirs, as far as they have not ended. ' +
          'The list is to be carried to machines without a network: the SDK takes it as a file.',
        security: [],
        params: clientPlace,
        response: {
          200: answer(
            'The list',
            z.object({
              withdrawn: z.string().meta({
                description: 'A `v4.public` token of PASETO, with the ids of the files, as text',
                example:
                  '-----BEGIN KEYLEDGER WITHDRAWN-----\nv4.public.…\n-----END KEYLEDGER WITHDRAWN-----\n',
              }),
            }),
          ),
          304: { description: 'Unchanged since the ETag that was sent' },
          ...errorsWith(errorBody, 404),
        },
      },
    },
    async (request, reply) => {
      const { tenantId, productId } = request.params
      const place = { tenantId, productId }
      const found = isSlug(tenantId) && isSlug(productId) ? await find(place) : undefined
      if (!found) throw notFound('product')
      const { files } = found
      const cause = { requestId: request.id, actor: 'system:withdrawn' }
      const key = found.key ?? (await signingKeyOf(ports, tenantId, cause))
      const version = { etag: etagOf(JSON.stringify([key.kid, files])), seconds: cachedSeconds }
      if (hasVersion(request, reply, version)) return reply.code(304).send()
      const token = await signWithdrawn(ports.signer, key, { ...place, files }, momentOf(ports))
      return { withdrawn: armored('WITHDRAWN', token) }
    },
  )
}

/**
 * Finds the withdrawn files of a product, and the key that signs; none before the tenant's first one. Concurrent look-ups share
 * the queries: anyone may read the list, as often as they like.
 */
function createWithdrawnLookup({ db, findProduct, now }: Ports<'db' | 'findProduct' | 'now'>) {
  return coalesce(async (places: readonly { tenantId: string; productId: string }[]) => {
    const nameOf = ({ tenantId, productId }: (typeof places)[number]) => `${tenantId}/${productId}`
    const distinct = new Map(places.map((place) => [nameOf(place), place]))
    const found = new Map<string, { files: string[]; key: ActiveKey | undefined } | undefined>()
    const at = momentOf({ now })
    await Promise.all(
      Array.from(distinct, async ([name, place]) => {
        const product = await findProduct(place.tenantId, place.productId)
        if (!product) return
        const [files, key] = await Promise.all([
          listWithdrawn(db, place, at),
          findActiveKey(db, place.tenantId, at),
        ])
        found.set(name, { files, key })
      }),
    )
    return places.map((place) => found.get(nameOf(place)))
  })
}
