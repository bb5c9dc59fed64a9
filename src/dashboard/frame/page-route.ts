import type { FastifyContextConfig } from 'fastify'

/**
 * The options of a page's route: who may open it, and whether the view is recorded. It takes the settings as an argument,
 * so that a misspelled one does not compile; pages are not part of the described API.
 */
export const pageRoute = (config: FastifyContextConfig) => ({ config, schema: { hide: true } }) as const
