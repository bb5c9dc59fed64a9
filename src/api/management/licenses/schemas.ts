import { z } from 'zod'
import { DeviceLimit } from '../../../domain/products/key-type.ts'
import { EmailAddress, Slug } from '../../../domain/values.ts'
import { licenseOut } from '../../../http/licenses/license.ts'
import { metadataIn, momentIn, text } from '../../../http/schemas.ts'

/** Of a remint. */
export const remintedOut = z.object({
  license: licenseOut,
  licenseKey: z.string().meta({ description: 'The raw key, shown only in this response' }),
})

export const receiptUrlOut = z
  .string()
  .meta({ description: 'Where a proof is read that the license is in the signed log' })

export const mintedOut = remintedOut.extend({ receiptUrl: receiptUrlOut })

/** Of a mint and a remint. */
export const sendKey = z.boolean().default(false).meta({
  description:
    'Whether the key is also sent by mail to the person of the license. Without an email address, or where the product sends no mails, the answer is 409',
})

export const licenseIn = z
  .strictObject({
    productId: Slug,
    keyTypeId: Slug.optional().meta({ description: "Defaults to the product's first key type" }),
    quantity: z.int().min(1).max(100_000).optional(),
    email: EmailAddress.optional(),
    name: text(200)
      .optional()
      .meta({ description: 'The name of the person; stored only together with an email address' }),
    customerId: text(100).optional(),
    expiresAt: momentIn
      .nullable()
      .optional()
      .meta({ description: 'null is perpetual; truncated to the second' }),
    deviceLimit: DeviceLimit.nullable().optional().meta({ description: 'null is unlimited' }),
    metadata: metadataIn.optional(),
    sendKey,
  })
  .meta({ example: { productId: 'acme-editor', email: 'ada@example.com' } })
