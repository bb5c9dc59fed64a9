import { z } from 'zod'
import { EmailAddress } from '../../domain/values.ts'
import { pairs } from '../forms/pairs.ts'
import { optionalLine } from '../forms/typed.ts'

/** A customer as a member fills them in. */
export const CustomerForm = z.object({
  email: z
    .string()
    .trim()
    .optional()
    .default('')
    .refine(
      (text) => EmailAddress.safeParse(text).success,
      'Enter an email address, for example ada@example.com.',
    ),
  name: optionalLine(200),
  metadata: pairs,
})
