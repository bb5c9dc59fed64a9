import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { newId } from '../../src/credentials/id.ts'
import { openRoutes } from './permissions.ts'

export type Route = { method: Method; path: string }

const Method = z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
type Method = z.infer<typeof Method>

/** The routes of the dashboard that pages and forms have. */
export const dashboardRoutes = (app: FastifyInstance): Route[] =>
  routesOf(app).filter(
    ({ method, path }) =>
      (method === 'GET' || method === 'POST') && (path === '/dashboard' || path.startsWith('/dashboard/')),
  )

/** Every route, from the router itself, so that new ones are covered. */
export function routesOf(app: FastifyInstance): Route[] {
  const parents: string[] = []
  const routes: Route[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const found = /^([│ ├└─]*)(\S+)(?: \(([^)]+)\))?$/.exec(line)
    if (!found) continue
    const [, indent = '', part = '', methods = ''] = found
    const depth = indent.length / 4 - 1
    parents.length = depth
    parents.push(part)
    const path = parents.join('')
    for (const method of methods === '' ? [] : methods.split(', '))
      routes.push({ method: Method.parse(method), path })
  }
  return routes
}

export const nameOf = ({ method, path }: Route): string => `${method} ${path}`

export const isGuarded = (route: Route): boolean => !openRoutes.includes(nameOf(route))

/** A well-formed id of nothing. */
export function idFor(path: string): string {
  if (path.includes('/licenses/')) return newId('lic')
  if (path.includes('/customers/')) return newId('cus')
  if (path.includes('/approvals/')) return newId('cnf')
  if (path.includes('/members/')) return newId('mem')
  if (path.includes('/resellers/')) return newId('rsl')
  if (path.includes('/tokens/')) return newId('tok')
  return 'nobody-has-this'
}

/** A route's URL, with ids of nothing. */
export const urlOf = ({ path }: Route): string =>
  path
    .replace(':id', idFor(path))
    .replace(':secret', 'a'.repeat(43))
    .replace(':action', 'revoke')
    .replaceAll(/:\w+/g, 'nobody-has-this')
