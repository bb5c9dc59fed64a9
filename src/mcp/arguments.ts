import { z } from 'zod'

const id = (what: string, example: string) =>
  z.string().min(1).max(100).describe(`The id of ${what}, such as ${example}`)

export const licenseId = id('a license', 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc')

export const customerId = id('a customer', 'cus_06f5w3k8hx7vq2m4n9t1r0s5zc')

export const saleId = id('a sale', 'sal_06f5w3k8hx7vq2m4n9t1r0s5zc')

export const productId = id('a product', 'acme-editor')

export const keyTypeId = id('a key type of the product', 'pro')

export const deviceId = z.string().min(1).max(256).describe('The id of a device, as get_license lists it')

/** ISO 8601, checked by the operation itself. */
export const time = (meaning: string) =>
  z.string().max(40).describe(`${meaning}, such as 2027-11-21T00:00:00.000Z`)

export const reason = z
  .string()
  .min(1)
  .max(500)
  .optional()
  .describe("Why. It is shown in the license's history; do not put secrets in it")

export const confirmationId = z
  .string()
  .max(100)
  .optional()
  .describe(
    'Leave it out at first: the result then has an approval with an address for a person. Once check_approval says ' +
      '`approved`, repeat the call with exactly the same arguments and the id of the approval here',
  )

export const dryRun = z
  .boolean()
  .optional()
  .describe(
    'true returns what would change, in words and in detail, and changes nothing; no approval is needed for it',
  )

export const idempotencyKey = z
  .string()
  .max(255)
  .regex(/^[!-~]+$/, 'must be visible ASCII characters without spaces')
  .optional()
  .describe(
    'A text without spaces, of your choice. A repeated call with it creates nothing again and gets the first result',
  )

/** Arguments of a list. */
export const page = {
  limit: z.int().min(1).max(100).default(20).describe('How many items to return'),
  cursor: z.string().max(1000).optional().describe('`nextCursor` of the previous page'),
}
