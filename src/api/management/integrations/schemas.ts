import { z } from 'zod'
import {
  findIntegration,
  listPricedProducts,
  type PricedProduct,
} from '../../../../projections/integrations.ts'
import type { Connection } from '../../../commands/integrations/integrations.ts'
import { CreditPack, type CreditPacks, type ProductPacks } from '../../../domain/integrations/credit-packs.ts'
import type { KnownIntegration } from '../../../domain/integrations/integration.ts'
import { type Mapping, nameOf, Permalink, SoldId } from '../../../domain/integrations/mapping.ts'
import {
  kindOf,
  type Marketplace,
  mappedBy,
  marketplacesMappedBy,
  Provider,
  ProviderCredential,
  ProviderKind,
} from '../../../domain/integrations/provider.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { Slug } from '../../../domain/values.ts'
import { invalid } from '../../../http/problem.ts'
import { momentOut, text } from '../../../http/schemas.ts'
import type { Ports } from '../../../ports.ts'

const ids = z.record(z.string(), z.string())

const keyTypeBy = (item: 'variant' | 'price' | 'product'): string =>
  marketplacesMappedBy(`${item}s`)
    .map((provider) => `${provider}: key type by ${item}`)
    .join('; ')

/** What each field of a mapping holds. */
const holds = {
  permalinks: { description: 'gumroad: the permalinks that sell the product' },
  variants: { description: keyTypeBy('variant') },
  prices: { description: `${keyTypeBy('price')}; stripe: price by key type` },
  products: { description: keyTypeBy('product') },
  paymentLinks: { description: 'stripe: key type by payment link' },
}

/** One field, depending on the provider; Stripe may have both of its own. */
const mappingOut = z
  .object({
    permalinks: z.array(z.string()).optional().meta(holds.permalinks),
    variants: ids.optional().meta(holds.variants),
    prices: ids.optional().meta(holds.prices),
    products: ids.optional().meta(holds.products),
    paymentLinks: ids.optional().meta(holds.paymentLinks),
  })
  .meta({
    id: 'Mapping',
    description: "What of a provider sells a product. Only that provider's fields are present",
    example: { products: { 'b7c9f0de-4a1b-4a54-9a53-0c5d6d1c2f3e': 'pro' } },
  })

const packShape = {
  meter: CreditPack.shape.meter.meta({ description: 'The meter that it adds to', example: 'minutes' }),
  amount: CreditPack.shape.amount.meta({
    description: 'How much each unit that is bought adds, as a decimal number',
    example: '500',
  }),
  days: CreditPack.shape.days.meta({
    description: 'For how many days from the purchase it can be spent; null for ever',
    example: 365,
  }),
}

const packOut = z
  .object({
    id: z.string().meta({ description: "The provider's id of what is sold", example: '524459' }),
    ...packShape,
  })
  .meta({ id: 'CreditPack', description: 'Something that a provider sells as a credit for a meter' })

export const packsIn = z
  .strictObject({
    packs: z
      .array(
        z.strictObject({
          id: SoldId.meta({
            description: "The provider's id: a permalink, variant, price, product or payment link",
            example: '524459',
          }),
          ...packShape,
          days: packShape.days.default(null),
        }),
      )
      .max(1000)
      .refine(
        (packs) => new Set(packs.map(({ id }) => nameOf(id))).size === packs.length,
        'must name each id once',
      )
      .meta({ description: 'All packs of the product at this provider; none removes them' }),
  })
  .meta({ example: { packs: [{ id: '524459', meter: 'minutes', amount: '500', days: 365 }] } })

export const packsFrom = ({ packs }: z.infer<typeof packsIn>): CreditPacks =>
  Object.fromEntries(packs.map(({ id, ...pack }) => [id, pack]))

export const integrationOut = z
  .object({
    provider: Provider.meta({ description: 'The payment provider', example: 'polar' }),
    kind: ProviderKind.meta({
      description: '`card`: payments to your own account. `marketplace`: it sells in its own name',
      example: 'marketplace',
    }),
    connected: z.boolean(),
    connectedAt: momentOut.nullable(),
    products: z
      .array(
        z.object({
          productId: Slug,
          mapping: mappingOut,
          creditPacks: z
            .array(packOut)
            .optional()
            .meta({ description: 'What sells credits for its licenses. Absent without any' }),
        }),
      )
      .meta({ description: 'The products that it sells, each with its mapping' }),
  })
  .meta({ id: 'Integration', description: 'A payment provider and what it sells' })

export const oneIntegration = z.object({ integration: integrationOut })

export const pingUrlOut = z.string().optional().meta({
  description: 'Gumroad only: the ping URL, shown only in this response; absent for other providers',
})

/** @param priced the products of the card provider, whose prices are stored with the key types */
export function integrationView(
  provider: Provider,
  known: KnownIntegration | undefined,
  priced: readonly PricedProduct[],
): z.infer<typeof integrationOut> {
  const connected = known?.status === 'connected'
  const mapped = (known?.mappings ?? []).map(({ productId, mapping }) => ({
    productId,
    mapping: { ...mapping },
  }))
  return {
    provider,
    kind: kindOf(provider),
    connected,
    connectedAt: connected ? known.connectedAt : null,
    products: withCredits(provider === 'stripe' ? withPrices(mapped, priced) : mapped, known?.packs ?? []),
  }
}

type Mapped = z.infer<typeof integrationOut>['products']

/** The card provider's prices of each product, and its payment links. */
function withPrices(mapped: Mapped, priced: readonly PricedProduct[]): Mapped {
  const linked = mapped.filter(({ productId }) => !priced.some((one) => one.productId === productId))
  const sold = priced.map(({ productId, prices }) => {
    const links = mapped.find((one) => one.productId === productId)?.mapping
    return { productId, mapping: { prices, ...links } }
  })
  return [...sold, ...linked]
}

function withCredits(mapped: Mapped, packs: readonly ProductPacks[]): Mapped {
  const only = packs.filter(({ productId }) => !mapped.some((one) => one.productId === productId))
  const all: Mapped = [...mapped, ...only.map(({ productId }) => ({ productId, mapping: {} }))]
  return all.map((one) => {
    const sold = packs.find(({ productId }) => productId === one.productId)
    if (!sold) return one
    return { ...one, creditPacks: Object.entries(sold.packs).map(([id, pack]) => ({ id, ...pack })) }
  })
}

/** The current state of the integration. */
export async function readIntegration(
  ports: Ports<'db'>,
  tenantId: string,
  provider: Provider,
): Promise<z.infer<typeof integrationOut>> {
  const [known, priced] = await Promise.all([
    findIntegration(ports.db, tenantId, provider),
    provider === 'stripe' ? listPricedProducts(ports.db, tenantId) : [],
  ])
  return integrationView(provider, known, priced)
}

export const providerParam = z.strictObject({
  provider: z
    .string()
    .meta({ description: `The payment provider: ${Provider.options.join(', ')}`, example: 'polar' }),
})

/** @throws Refusal `provider_not_found` for an unknown provider */
export function requireProvider(name: string): Provider {
  const provider = Provider.safeParse(name)
  if (!provider.success) throw new Refusal('provider_not_found')
  return provider.data
}

export const connectIn = z
  .strictObject({
    webhookSecret: ProviderCredential.optional().meta({
      description: "The secret that verifies the provider's notifications",
    }),
    apiKey: ProviderCredential.optional().meta({
      description: 'Checked with the provider before it is stored',
    }),
  })
  .nullish()
  .meta({ example: { webhookSecret: 'polar_whs_8fXk...', apiKey: 'polar_oat_0nH3...' } })

export const endpointIn = z
  .strictObject({
    apiKey: ProviderCredential.meta({ description: 'Checked with the provider, and kept sealed' }),
    replace: z.boolean().optional().meta({
      description: 'Replace an endpoint with this address that is there already and cannot be used',
    }),
    store: text(100).optional().meta({
      description: 'lemonsqueezy only: the id of the store, where the account has several',
    }),
  })
  .meta({ example: { apiKey: 'polar_oat_0nH3...' } })

const endpointFields = {
  url: z.string().meta({
    description: 'Where the provider sends its notifications',
    example: 'https://licenses.acme.example/webhooks/polar/acme',
  }),
  id: z.string().meta({
    description: "The provider's id of the endpoint",
    example: '0f6e1c52-7a34-4c58-9d4b-52a4f3c6f0b1',
  }),
}

export const endpointOut = z
  .object({
    ...endpointFields,
    created: z.boolean().meta({
      description: 'Whether it was created; false when it was there already, and is used',
      example: true,
    }),
    removed: z.int().meta({
      description: 'How many former endpoints with this address were removed',
      example: 0,
    }),
    left: z.int().meta({
      description: 'How many of them could not be removed; remove them at the provider',
      example: 0,
    }),
  })
  .nullable()
  .meta({ description: 'The endpoint at the provider; null when a repetition of the request found it done' })

export const formerEndpointOut = z
  .object({
    ...endpointFields,
    removed: z.boolean().meta({
      description: 'Whether it was removed at the provider; when false, remove it there by hand',
      example: true,
    }),
  })
  .nullable()
  .meta({
    description: 'The endpoint that was created at the provider for this connection; null where none was',
  })

/**
 * @throws Refusal `webhook_secret_wanted`, `webhook_secret_unwanted`
 * @throws Problem 400 when the body contains an API key that is not used
 */
export function connectionFrom(provider: Marketplace, body: z.infer<typeof connectIn>): Connection {
  const { webhookSecret, apiKey } = body ?? {}
  if (provider !== 'gumroad') {
    if (webhookSecret === undefined) throw new Refusal('webhook_secret_wanted')
    return { provider, webhookSecret, apiKey }
  }
  if (webhookSecret !== undefined) throw new Refusal('webhook_secret_unwanted')
  if (apiKey !== undefined) throw invalid('Gumroad needs no API key; omit apiKey')
  return { provider }
}

const soldAs = z
  .record(SoldId, text(255))
  .refine((entries) => Object.keys(entries).length <= 1000, 'must have at most 1,000 entries')

export const mappingIn = z
  .strictObject({
    permalinks: z.array(Permalink).max(100).optional().meta(holds.permalinks),
    variants: soldAs.optional().meta(holds.variants),
    prices: z
      .record(SoldId, SoldId)
      .refine((entries) => Object.keys(entries).length <= 1000, 'must have at most 1,000 entries')
      .optional()
      .meta(holds.prices),
    products: soldAs.optional().meta(holds.products),
    paymentLinks: soldAs.optional().meta(holds.paymentLinks),
  })
  .meta({
    description: "The provider's field; replaces the current mapping, and an empty one removes it",
    example: { permalinks: ['editor'] },
  })

type MappingIn = z.infer<typeof mappingIn>

/** @throws Problem 400 when the body contains another provider's field */
export function checkMappingField(provider: Provider, body: MappingIn): void {
  const field: keyof MappingIn = mappedBy[provider]
  const given = Object.keys(body)
  if (provider === 'stripe' && given.length === 1 && body.paymentLinks) return
  if (given.length !== 1 || given[0] !== field) {
    throw invalid(`${provider} accepts only the field ${field}`)
  }
}

/** Normalizes a body that has passed {@link checkMappingField}. */
export function mappingFrom({ permalinks, variants, prices, products, paymentLinks }: MappingIn): Mapping {
  if (permalinks) return { permalinks: [...new Set(permalinks)].sort() }
  if (variants) return { variants }
  if (paymentLinks) return { paymentLinks }
  return prices ? { prices } : { products: products ?? {} }
}
