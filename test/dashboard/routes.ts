import type { FastifyInstance } from 'fastify'

export type Route = { method: 'GET' | 'POST'; path: string }

/** Every route of the dashboard, from the router itself, so that new ones are covered. */
export function dashboardRoutes(app: FastifyInstance): Route[] {
  const parents: string[] = []
  const routes: Route[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const found = /^([│ ├└─]*)(\S+) \(([^)]+)\)$/.exec(line)
    if (!found) continue
    const [, indent = '', part = '', methods = ''] = found
    const depth = indent.length / 4 - 1
    parents.length = depth
    parents.push(part)
    const path = parents.join('')
    if (path !== '/dashboard' && !path.startsWith('/dashboard/')) continue
    for (const method of methods.split(', ')) {
      if (method === 'GET' || method === 'POST') routes.push({ method, path })
    }
  }
  return routes
}
