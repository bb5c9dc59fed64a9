import { z } from 'zod'
import { type Certificate, readCertificate } from '../signing/certificate.ts'

/** The vendor's answer to a request of a relay. */
const Answer = z.object({
  certificate: z.string().max(100_000),
  /** Raw public keys of the tenant, base64, by their ids. */
  keys: z.record(z.string(), z.string()),
  /** The settings of the product as the client interface answers them. */
  settings: z.looseObject({ free_tier_enabled: z.boolean(), expires_at: z.int().optional() }).nullable(),
  product: z.object({ tenantId: z.string().min(1), productId: z.string().min(1), name: z.string() }),
})
type Answer = z.infer<typeof Answer>

/** An answer whose certificate was verified. */
export type Certified = Answer & { claims: Certificate }

/** The answer cannot be used. The message says what to do. */
export class AnswerUnusable extends Error {}

/** @throws AnswerUnusable for a text that is no answer, or whose certificate no key in it has signed */
export function readAnswer(text: string): Certified {
  const { data: answer } = Answer.safeParse(jsonIn(text))
  if (!answer)
    throw new AnswerUnusable(
      'This is not an answer to a relay. Take the whole file that the vendor gave you.',
    )
  const claims = readCertificate(answer.certificate, answer.keys, answer.product)
  if (!claims)
    throw new AnswerUnusable(
      'The certificate in this answer was not signed by the vendor, or the file was changed. Take it from the vendor again.',
    )
  return { ...answer, claims }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
