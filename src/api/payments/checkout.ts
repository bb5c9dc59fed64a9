import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { z } from 'zod'
import {
  createClientKeyLookup,
  type FindClientKey,
  type KnownClientKey,
} from '../../../projections/client-keys.ts'
import { type CheckoutPorts, openCheckout } from '../../commands/checkout/checkout.ts'
import { sameDigest } from '../../credentials/sha256.ts'
import { tokenHashOf } from '../../credentials/token.ts'
import { SoldId } from '../../domain/integrations/mapping.ts'
import { EmailAddress, isPlain } from '../../domain/values.ts'
import { spend } from '../../http/limits/rate-limit.ts'
import { Problem, unavailable } from '../../http/problem.ts'
import { answer, errors, text } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Limiter } from '../../limits/limiter.ts'
import type { Limits } from '../../limits/limits.ts'
import type { Ports } from '../../ports.ts'
import { requireProduct } from '../management/products/products.ts'

/** The URL to return the customer to. Stripe fills in `{CHECKOUT_SESSION_ID}`. */
const backUrl = z
  .string()
  .max(2000)
  .refine((url) => isPlain(url) && URL.canParse(url), { error: 'must be a URL', abort: true })
  .refine((url) => /^https?:$/.test(new URL(url).protocol), 'must begin with https:// or http://')
  .meta({ format: 'uri' })

const checkoutIn = z
  .object({
    product_id: text(63),
    key_type_id: text(63)
      .optional()
      .meta({ description: 'The key type to issue a license of; required without `pack_id`' }),
    pack_id: SoldId.optional().meta({
      description: 'Instead of a key type: the Stripe price that is mapped as a credit pack of the product',
      example: 'price_500_minutes',
    }),
    license_id: text(63)
      .optional()
      .meta({
        description:
          'With `pack_id`: the license that gets the credit, also of another person. By default, the newest active license of ' +
          '`customer_email` that has the meter',
      }),
    success_url: backUrl.meta({
      description:
        'Where the customer returns to after the payment; `{CHECKOUT_SESSION_ID}` in it is filled in',
      example: 'https://acme.example/thanks',
    }),
    cancel_url: backUrl.meta({
      description: 'Where the customer returns to without a payment',
      example: 'https://acme.example/prices',
    }),
    customer_email: EmailAddress.meta({
      description: 'The email address of the customer, who gets a key there',
      example: 'grace@example.com',
    }),
    quantity: z
      .int()
      .min(1)
      .max(100_000)
      .default(1)
      .meta({ description: 'The number of packs, or of seats for key types that are sold in multiples' }),
  })
  .refine(
    ({ key_type_id: keyTypeId, pack_id: packId }) => (keyTypeId === undefined) !== (packId === undefined),
    'key_type_id and pack_id: send one of them',
  )
  .refine(
    ({ license_id: licenseId, pack_id: packId }) => licenseId === undefined || packId !== undefined,
    'license_id: send it only with pack_id',
  )

type CheckoutIn = z.infer<typeof checkoutIn>

/** What the request names; the schema has checked that it is one of them. */
const boughtIn = ({ key_type_id: keyTypeId = '', pack_id: packId, license_id: licenseId }: CheckoutIn) =>
  packId === undefined ? { keyTypeId } : { packId, licenseId }

/** Creates a checkout session; called by a vendor's own server. */
export function checkoutRoute(
  app: ZodApp,
  ports: CheckoutPorts & Ports<'findProduct' | 'limitHits'>,
  limits: Limits,
): void {
  app.post(
    '/api/:tenantId/checkout',
    {
      config: {
        noRequestTimeout: true,
        noDryRun: 'it opens a checkout session at Stripe, which takes part only in the call itself',
      },
      onRequest: admitting(ports, limits.checkout),
      schema: {
        operationId: 'createCheckout',
        tags: ['Checkout'],
        summary: 'Create a checkout page for a key type or a credit pack',
        description:
          "The page is hosted by Stripe on the tenant's connected account; a platform fee is deducted from what the account " +
          'receives. The license is issued, or the credit added, when Stripe reports the payment. Limited to 20 requests a minute per tenant.',
        security: [{ checkoutKey: [] }],
        params: z.object({ tenantId: z.string() }),
        body: checkoutIn,
        response: {
          200: answer(
            'Redirect the customer to this URL',
            z.object({
              url: z.string().meta({
                description: 'The checkout page',
                example: 'https://checkout.stripe.com/c/pay/cs_live_a1b2c3',
              }),
            }),
          ),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request) => {
      const { body } = request
      const product = await requireProduct(ports, request.params.tenantId, body.product_id)
      const url = await openCheckout(ports, product, {
        ...boughtIn(body),
        quantity: body.quantity,
        customerEmail: body.customer_email,
        successUrl: body.success_url,
        cancelUrl: body.cancel_url,
      })
      return { url }
    },
  )
}

/** Checks the key before the body is read, then its rate limit and the state of the tenant. */
function admitting(
  { db, limitHits }: Ports<'db' | 'limitHits'>,
  limiter: Limiter | undefined,
): onRequestHookHandler {
  const findClientKey = createClientKeyLookup(db)
  const admit = async (request: FastifyRequest, reply: FastifyReply) => {
    const { tenantId } = request.params as { tenantId: string }
    const presented = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    const known = presented === undefined ? undefined : await knownClientKey(findClientKey, 'chk', presented)
    if (known?.tenantId !== tenantId) {
      throw new Problem(401, 'unauthorized', 'send the checkout key: Authorization: Bearer <checkout key>', {
        'www-authenticate': 'Bearer',
      })
    }
    if (known.uncertain) throw unavailable('the state of this key cannot be read right now; try again')
    await spend(limiter, tenantId, { reply, onHit: () => limitHits.count(tenantId, 'checkout') })
    refuseInactive(known.tenantStatus)
  }
  return (request, reply, done) => {
    admit(request, reply).then(() => done(), done)
  }
}

/** @throws Problem 403 when the tenant is suspended or closed */
export function refuseInactive(status: 'active' | 'suspended' | 'closed'): void {
  if (status === 'closed') throw new Problem(403, 'forbidden', 'the tenant is closed')
  if (status === 'suspended')
    throw new Problem(403, 'forbidden', 'the tenant is suspended; it cannot sell licenses')
}

/**
 * The tenant of a live SDK key or checkout key; undefined for anything else. A key with a wrong checksum is refused
 * without a lookup.
 */
export async function knownClientKey(
  find: FindClientKey,
  kind: KnownClientKey['kind'],
  presented: string,
): Promise<KnownClientKey | undefined> {
  const hash = tokenHashOf(presented, kind)
  const known = hash === undefined ? undefined : await find(hash)
  // The lookup is by hash already; the second comparison takes constant time.
  return hash !== undefined && known?.kind === kind && sameDigest(known.keyHash, hash) ? known : undefined
}
