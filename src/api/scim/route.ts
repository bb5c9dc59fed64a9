import type { FastifyContextConfig, FastifyReply } from 'fastify'
import type { z } from 'zod'
import { scimMediaType } from '../../http/scim-errors.ts'

/** The URL of the interface, before the paths of its resources. */
export type Base = string

type Options = { config: FastifyContextConfig; schema: { hide: true }; exposeHeadRoute: false }

/** They are described by `/Schemas` and not by the OpenAPI document: the standard says what each does. */
const route = (query?: z.ZodObject, config: FastifyContextConfig = {}): Options => ({
  config: { scope: 'scim', idempotencyKey: 'ignored', ...(query && { query }), ...config },
  schema: { hide: true },
  exposeHeadRoute: false,
})

/** A route that reads. */
export const reading = (query?: z.ZodObject): Options => route(query)

/** A route that changes a user or a group. A group may have many members. */
export const writing = (query?: z.ZodObject): Options =>
  route(query, { mostFields: 10_000, noDryRun: 'SCIM has none' })

export const answerWith = (reply: FastifyReply, status: number, body: object): FastifyReply =>
  reply.code(status).type(`${scimMediaType}; charset=utf-8`).send(body)
