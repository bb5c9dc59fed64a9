import { parse } from 'node:querystring'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isPlain } from '../../domain/values.ts'
import { Problem } from '../../http/problem.ts'

/** Fields of several lines have line breaks and tabs; nothing else that is invisible is typed into a form. */
const isTyped = (value: string): boolean => isPlain(value.replaceAll(/[\t\r\n]/g, ''))

/** Reads forms. One whose fields hold what people cannot have typed is refused with 400. */
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

/** What people type into a line: trimmed, and nothing that a store cannot hold. */
export const line = (most: number) => z.string().trim().max(most).refine(isPlain, 'cannot be used')

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
      'The form could not be read. Go back, reload the page and try again.',
    )
  return data
}
