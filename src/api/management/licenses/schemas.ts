import { z } from 'zod'
import { DeviceLimit } from '../../../domain/products/key-type.ts'
import { EmailAddress, Slug } from '../../../domain/values.ts'
import { licenseOut } from '../../../http/licenses/license.ts'
import { metadataIn, momentIn, text } from '../../../http/schemas.ts'

/** Of a remint. */
export const remintedOut = z.object({
  license: licenseOut,
  licenseKey: z.string().meta({
    description: 'The raw key, shown only in this response',
    example: 'ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7',
  }),
})

export const receiptUrlOut = z.string().meta({
  description: 'Where a proof is read that the license is in the signed log',
  example: 'https://licenses.acme.example/v1/licenses/lic_06f5w3k8hx7vq2m4n9t1r0s5zc/receipt',
})

export const mintedOut = remintedOut.extend({ receiptUrl: receiptUrlOut })

/** Of a mint and a remint. */
export const sendKey = z.boolean().default(false).meta({
  description:
    'Whether the key is also sent by mail to the person of the license. Without an email address, or where the product sends no mails, the answer is 409',
})

/** How many units a license is for. */
export const quantityIn = z.int().min(1).max(100_000).optional().meta({
  description: 'The number of units; 1 by default. The device limit of the key type counts for each of them',
  example: 1,
})

export const licenseIn = z
  .strictObject({
    productId: Slug,
    keyTypeId: Slug.optional().meta({ description: "Defaults to the product's first key type" }),
    quantity: quantityIn,
    email: EmailAddress.optional().meta({
      description: 'The email address of the person who holds the license; stored encrypted',
      example: 'grace@example.com',
    }),
    name: text(200)
      .optional()
      .meta({ description: 'The name of the person; stored only together with an email address' }),
    customerId: text(100).optional().meta({
      description: 'Links the license to this customer, whose entitlement overrides then apply to it',
      example: 'cus_06f5w3k8hx7vq2m4n9t1r0s5zc',
    }),
    expiresAt: momentIn
      .nullable()
      .optional()
      .meta({ description: 'null is perpetual; truncated to the second' }),
    deviceLimit: DeviceLimit.nullable().optional().meta({ description: 'null is unlimited' }),
    updatesUntil: momentIn.nullable().optional().meta({
      description:
        'The last moment of a build that the license covers; truncated to the second. null covers every build; when absent, the `updates` of the key type count from now',
    }),
    metadata: metadataIn.optional(),
    sendKey,
  })
  .meta({ example: { productId: 'editor', email: 'grace@example.com' } })

/** Where the receipt of a license is read. */
export const receiptUrl = (baseUrl: string, licenseId: string): string =>
  `${baseUrl}/v1/licenses/${licenseId}/receipt`
