import type { FastifyInstance, RouteOptions } from 'fastify'
import { deepestJson, sizeOfJson } from '../../domain/json-bounds.ts'
import { someOf } from '../../domain/plain-text.ts'
import { bodyTooLarge, invalid } from '../problem.ts'
import { RefusedInput } from '../validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How many fields a JSON body may have; 1,000 unless the route says more. */
    mostFields?: number
  }
}

/** Enough for every body of a caller that is not yet known: keys, ids, names, a passkey, an address to return to. */
const withoutSignIn = 8192

const mostFields = 1000

/**
 * Bounds what a body costs before it is validated: its length while it arrives, and its depth and fields before anything is
 * built of it. A body for a path that does not exist is not read. Register routes after this.
 */
export function boundBodies(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (readsBeforeSignIn(route)) route.bodyLimit ??= withoutSignIn
  })
  app.addHook('onRequest', ({ is404, headers, routeOptions }, reply, done) => {
    if (is404 && (headers['content-length'] ?? headers['transfer-encoding']) !== undefined) {
      // Without these headers there is no body to parse. Node reads on only until the connection is closed.
      for (const name of ['content-type', 'content-length', 'transfer-encoding']) delete headers[name]
      reply.header('connection', 'close')
    }
    const { bodyLimit = 0 } = routeOptions
    const isKnownToBeLong = bodyLimit <= withoutSignIn && Number(headers['content-length']) > bodyLimit
    if (!isKnownToBeLong) return done()
    // Before any store is asked. The body is not read.
    reply.header('connection', 'close')
    done(invalid(bodyTooLarge))
  })
  acceptJson(app)
}

/** Whether the body arrives before it is known who calls, or from callers whom anyone can be. */
function readsBeforeSignIn({ config }: RouteOptions): boolean {
  const { scope, admitsItself, page } = config ?? {}
  const isForMembers = page !== undefined && page !== 'open'
  return !isForMembers && (scope === undefined || admitsItself === true)
}

/**
 * Treats an empty body as no body, whatever its content type: many clients send the type with every POST. A missing
 * body is then refused by the schema.
 */
export function acceptJson(app: FastifyInstance, mediaType = 'application/json'): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<string>(mediaType, { parseAs: 'string' }, (request, body, done) => {
    const wrong = whyNotRead(body, request.routeOptions.config.mostFields ?? mostFields)
    if (body === '') done(null)
    else if (wrong !== undefined) done(new RefusedInput(wrong))
    else void parse(request, body, done)
  })
}

function whyNotRead(body: string, most: number): string | undefined {
  const { tooDeep, fields, first } = sizeOfJson(body)
  if (tooDeep) return `the body has more than ${deepestJson} levels of arrays and objects; send fewer`
  if (fields <= most) return undefined
  const names = someOf(first, fields)
  return `the body has too many fields, ${names}; send at most ${most.toLocaleString('en')}`
}
