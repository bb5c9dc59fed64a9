import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client, ClientRoute } from './client.ts'

/** Where a client call may be found to be one too many. Each may answer at once or later, and throws Problem 429. */
export type ClientLimits = {
  /** Before anything is looked up: all that is known is the route and the caller's address. */
  arriving(route: ClientRoute, request: FastifyRequest, reply: FastifyReply): void | Promise<void>
  /** Once the SDK key has been found to be the tenant's. */
  admitted(client: Client, request: FastifyRequest): void | Promise<void>
  /** Once the body is read: an app asks about one license on one instance. */
  asking(client: Client, license: { keyHash: string; instanceId: string }): void | Promise<void>
}

export const noClientLimits: ClientLimits = {
  arriving: () => undefined,
  admitted: () => undefined,
  asking: () => undefined,
}
