import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Problem } from '../problem.ts'

/** What people type into a line: trimmed, and nothing that a store cannot hold. */
export const line = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .refine((value) => value.isWellFormed() && !/\p{Cc}/u.test(value), 'cannot be used')

/** Boxes of one name: none, one, or several of them. */
export const boxes = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value): string[] => (value === undefined ? [] : [value].flat()))

/** A form whose fields the page itself made: whoever sends others did not use the page. @throws Problem 400 */
export function formOf<S extends z.ZodType>(schema: S, request: FastifyRequest): z.infer<S> {
  const { success, data } = schema.safeParse(request.body)
  if (!success)
    throw new Problem(
      400,
      'invalid_request',
      'That form cannot be read. Go back, load the page again and try once more.',
    )
  return data
}
