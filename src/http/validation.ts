import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifySchemaCompiler, RawServerDefault } from 'fastify'
import { createSerializerCompiler, type FastifyZodOpenApiTypeProvider } from 'fastify-zod-openapi'
import { z } from 'zod'
import { inputWords, sentenceOf } from '../domain/input-words.ts'

type Part = [whole: string, nameOf?: (path: string) => string]

const parts: Readonly<Record<string, Part>> = {
  body: ['the body'],
  querystring: ['the query'],
  params: ['the path'],
  headers: ['the headers', (name) => `the header ${name}`],
}

/** Validates a part of a request by its zod schema. A refusal is a sentence that names the field. */
export const validateParts: FastifySchemaCompiler<unknown> = ({ schema, httpPart = 'body' }) => {
  if (!(schema instanceof z.ZodType)) return (value: unknown) => ({ value })
  const [whole, nameOf] = parts[httpPart] ?? ['the input']
  return (value: unknown) => {
    const { error, data } = schema.safeParse(value, { error: inputWords })
    return error ? { error: new RefusedInput(sentenceOf(error, whole, nameOf)) } : { value: data }
  }
}

/**
 * Checks an answer against its schema, which leaves out what the schema does not name, and writes it as JSON. Serializers
 * that are compiled for each schema would take longer to compile than most processes use them.
 */
export const serializeChecked = createSerializerCompiler({ stringify: JSON.stringify })

/** Input that is refused before it is validated. It is no Problem, so that callers are authenticated first. */
export class RefusedInput extends Error {
  readonly statusCode = 400
}

/** A Fastify instance whose routes derive their types from zod schemas. */
export type ZodApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  FastifyZodOpenApiTypeProvider
>
