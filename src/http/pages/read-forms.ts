import { parse } from 'node:querystring'
import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import { isPlain } from '../../domain/values.ts'
import { Problem } from '../problem.ts'

/** Text areas may contain line breaks and tabs; other invisible characters are not typed into forms. */
const isTyped = (value: string): boolean => isPlain(value.replaceAll(/[\t\r\n]/g, ''))

/** Any form has fewer fields; the parser would leave out the rest. */
const mostFields = 1000

/** Parses forms. A field with characters that people cannot type is refused with 400. */
export async function readForms(app: FastifyInstance): Promise<void> {
  await app.register(formbody, {
    parser: (text) => {
      if (text.split('&', mostFields + 1).length > mostFields)
        throw new Problem(400, 'invalid_request', 'The form has too many fields.')
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
