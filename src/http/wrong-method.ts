import type { FastifyInstance } from 'fastify'
import { sendProblem } from './errors.ts'
import { Problem } from './problem.ts'

/** Answers a path that exists, asked with another method, with 405 and `Allow`; anything else unknown with 404. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const routes: { methods: string[]; path: RegExp }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')
    routes.push({ methods: [method].flat(), path: new RegExp(`^${pattern.replace('\\*', '.*')}$`) })
  })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const allowed = new Set(routes.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods))
    if (allowed.size === 0)
      return sendProblem(request, reply, new Problem(404, 'invalid_request', 'no such path'))
    const allow = [...allowed].sort().join(', ')
    const message = `${request.method} is not possible here; allowed: ${allow}`
    return sendProblem(request, reply, new Problem(405, 'invalid_request', message, { allow }))
  })
}
