import { parse } from 'node:querystring'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isPlain } from '../../domain/values.ts'
import { Problem } from '../../http/problem.ts'

/** Text areas may contain line breaks and tabs; other invisible characters are not typed into forms. */
const isTyped = (value: string): boolean => isPlain(value.replaceAll(/[\t\r\n]/g, ''))

/** Parses forms. A field with characters that people cannot type is refused with 400. */
export async function readForms(app: FastifyInstance): Promise<void> {
  await app.register(formbody, {
    parser: (text) => {
      const form = parse(text)
      if (
        Object.entries(form)
          .flat(2)
          .every((value) => value === undefined || isTyped(value))
      )
        return form
      throw new Problem(400, 'invalid_request', 'A field contains characters that are not allowed.')
    },
  })
}

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
