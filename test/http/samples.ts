import { z } from 'zod'
import type { Ask } from '../harness/api.ts'

const MintedLicense = z.object({ licenseKey: z.string(), license: z.looseObject({ id: z.string() }) })

/** A product with the given name and key types (or the default one). */
export async function makeProduct(
  ask: Ask,
  token: string,
  productId: string,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const { status, text } = await ask('POST', '/v1/products', {
    token,
    body: { name: 'Acme Editor', productId, ...fields },
  })
  if (status !== 201) throw new Error(`the product was not made: ${text}`)
  return productId
}

export async function mint(
  ask: Ask,
  token: string,
  productId: string,
  fields: Record<string, unknown> = {},
): Promise<{ id: string; licenseKey: string }> {
  const { body, status, text } = await ask('POST', '/v1/licenses', { token, body: { productId, ...fields } })
  if (status !== 201) throw new Error(`the license was not minted: ${text}`)
  const { licenseKey, license } = MintedLicense.parse(body)
  return { id: license.id, licenseKey }
}

const CreatedCustomer = z.object({ customer: z.looseObject({ id: z.string() }) })

/** @returns the customer's id */
export async function makeCustomer(
  ask: Ask,
  token: string,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const body = { email: 'ada@example.com', ...fields }
  const { status, text, body: made } = await ask('POST', '/v1/customers', { token, body })
  if (status !== 201) throw new Error(`the customer was not made: ${text}`)
  return CreatedCustomer.parse(made).customer.id
}

const ImportAnswer = z.strictObject({
  imported: z.int(),
  skipped: z.int(),
  results: z.array(
    z.strictObject({
      index: z.int(),
      status: z.enum(['imported', 'duplicate', 'invalid']),
      id: z.string().optional(),
      displayKey: z.string().optional(),
      receiptUrl: z.string().optional(),
      error: z.string().optional(),
    }),
  ),
})

export async function importRows(
  ask: Ask,
  token: string,
  productId: string,
  licenses: readonly unknown[],
): Promise<z.infer<typeof ImportAnswer>> {
  const { status, body, text } = await ask('POST', '/v1/licenses/import', {
    token,
    body: { productId, licenses },
  })
  if (status !== 200) throw new Error(`not imported: ${status} ${text}`)
  return ImportAnswer.parse(body)
}
