import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isPlain } from '../../domain/values.ts'
import { Problem } from '../../http/problem.ts'

/** A single line of text: trimmed, and without characters that a store cannot hold. */
export const line = (most: number) => z.string().trim().max(most).refine(isPlain, 'cannot be used')

/** Check boxes of one name: none, one or several. */
export const boxes = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value): string[] => (value === undefined ? [] : [value].flat()))

/**
 * Parses a form whose fields the page itself has set; other input does not come from the page. @throws Problem 400
 */
export function formOf<S extends z.ZodType>(schema: S, request: FastifyRequest): z.infer<S> {
  const { success, data } = schema.safeParse(request.body)
  if (!success)
    throw new Problem(
      400,
      'invalid_request',
      'The form could not be read. Go back, reload the page and try again.',
    )
  return data
}
