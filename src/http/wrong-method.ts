import type { FastifyInstance } from 'fastify'
import { reservedTenantIds } from '../domain/tenants/tenant.ts'
import { sendProblem } from './errors.ts'
import { noSuchPath, Problem } from './problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Registered only so that another route's template does not match this path. */
    wrongMethod?: boolean
  }
}

/** Reserved first path segments are not tenants. */
const tenant = `(?!(?:${[...reservedTenantIds].join('|').replaceAll('.', '\\.')})/)[^/]+`

/** Answers an unsupported method on a known path with 405 and `Allow`, and every unknown path with 404. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const routes: { methods: string[]; path: RegExp; template: boolean }[] = []
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.wrongMethod) return
    const pattern = url
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, (name, at) => (name === ':tenantId' && at === 1 ? tenant : '[^/]+'))
    routes.push({
      methods: [method].flat(),
      path: new RegExp(`^${pattern.replace('\\*', '.*')}$`),
      template: url.includes(':'),
    })
  })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const matching = routes.filter((route) => route.path.test(path))
    const concrete = matching.filter(({ template }) => !template)
    const allowed = new Set((concrete.length > 0 ? concrete : matching).flatMap(({ methods }) => methods))
    if (allowed.size === 0) return sendProblem(request, reply, noSuchPath())
    const allow = [...allowed].sort().join(', ')
    const message = `${request.method} is not allowed here; allowed: ${allow}`
    return sendProblem(request, reply, new Problem(405, 'invalid_request', message, { allow }))
  })
}

/** Registers a method that a path does not support, so that a template does not match the path as an id. */
function refuse(app: FastifyInstance, method: 'GET' | 'HEAD' | 'PATCH', url: string): void {
  app.route({
    method,
    url,
    exposeHeadRoute: false,
    config: { wrongMethod: true },
    schema: { hide: true },
    // Before the body is read.
    onRequest: (_request, reply) => reply.callNotFound(),
    handler: (_request, reply) => reply.callNotFound(),
  })
}

/** For a path that supports only POST, beside a template that supports these methods. */
export function refuseAllButPost(app: FastifyInstance, path: string): void {
  for (const method of ['GET', 'HEAD', 'PATCH'] as const) refuse(app, method, path)
}

/** For a path that supports only GET, which is useless without its body, beside a template that can be changed. */
export function refuseAllButGet(app: FastifyInstance, path: string): void {
  for (const method of ['HEAD', 'PATCH'] as const) refuse(app, method, path)
}
