import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../problem.ts'

/** Sets the security headers of every page: nothing from other origins, nothing inline, no frames around it. */
export async function guardPages(app: FastifyInstance, isHttps: boolean): Promise<void> {
  const self = ["'self'"]
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: self,
        styleSrc: self,
        imgSrc: self,
        connectSrc: self,
        formAction: self,
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    frameguard: { action: 'deny' },
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: isHttps && { maxAge: 31_536_000, includeSubDomains: false },
  })
}

/**
 * Refuses a form that another site has sent, which browsers state in a header. Other clients and old browsers send
 * no such header and pass.
 */
export function refuseForeignForms(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const site = request.headers['sec-fetch-site']
    const foreign = request.method === 'POST' && site !== undefined && site !== 'same-origin'
    done(foreign ? new Problem(403, 'forbidden', 'forms from other sites are not accepted') : undefined)
  })
}
