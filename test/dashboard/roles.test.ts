/**
 * Guarantee: a member opens exactly the pages, and sends exactly the forms, that their role allows, and no page shows a
 * link or a form to a member who may not use it. Every route of the router is tried, so that new ones are covered.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type CustomRole,
  type HeldRole,
  MemberRole,
  may,
  type Permission,
  Role,
} from '../../src/domain/members/roles.ts'
import { combinableScopes, type Scope } from '../../src/domain/tokens/events.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { type Acme, makeAcme } from './acme.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember, makeReseller, makeRole } from './members.ts'
import { needed } from './permissions.ts'
import { dashboardRoutes, isGuarded, nameOf, type Route, urlOf } from './routes.ts'

let api: TestApi
let acme: Acme
let routes: Route[]
const clients = new Map<MemberRole | Scope, Client>()
const customRoles = new Map<Scope, CustomRole>()
beforeAll(async () => {
  api = await openTestApi()
  acme = await makeAcme({ api })
  routes = dashboardRoutes(api.app)
  const { resellerId } = await makeReseller(api.ledger, acme.tenantId)
  for (const role of MemberRole.options) {
    const client = clientOf(api.app, `192.0.2.${MemberRole.options.indexOf(role)}`)
    const rights = role === 'reseller' ? { role, resellerId } : role
    await client.signIn(await makeMember(api.ledger, acme.tenantId, rights))
    clients.set(role, client)
  }
  for (const scope of combinableScopes) {
    const role = await makeRole(api.ledger, acme.tenantId, [scope])
    const client = clientOf(api.app, `192.0.2.${50 + combinableScopes.indexOf(scope)}`)
    await client.signIn(await makeMember(api.ledger, acme.tenantId, role.roleId))
    clients.set(scope, client)
    customRoles.set(scope, role)
  }
})
afterAll(() => api.close())

const clientAs = (role: MemberRole | Scope): Client => clients.get(role) ?? clientOf(api.app)

const allows = (role: HeldRole, route: string): boolean => {
  const permission = needed[route]
  if (permission === undefined || permission === 'anyone') return permission !== undefined
  if (role === 'reseller' || permission === 'reseller') return permission === role
  return permission === 'member' || may(role, permission)
}

test('every page and form is in the table of permissions', () => {
  const guarded = routes.filter(isGuarded).map(nameOf)
  expect(Object.keys(needed).sort()).toStrictEqual(guarded.sort())
})

const custom = (scope: Scope): CustomRole => {
  const role = customRoles.get(scope)
  if (!role) throw new Error(`no role has only the scope ${scope}`)
  return role
}

test.each(MemberRole.options)('a member with the role %s opens exactly what the role allows', (role) =>
  opensExactly(role, clientAs(role)),
)

test.each(combinableScopes)(
  'a member whose role has only the scope %s opens exactly what it allows',
  (scope) => opensExactly(custom(scope), clientAs(scope)),
)

async function opensExactly(role: HeldRole, client: Client): Promise<void> {
  for (const route of routes.filter(isGuarded)) {
    await client.get('/dashboard/account')
    const { status } =
      route.method === 'GET' ? await client.get(urlOf(route)) : await client.post(urlOf(route))
    expect({ route: nameOf(route), refused: status === 403 }).toStrictEqual({
      route: nameOf(route),
      refused: !allows(role, nameOf(route)),
    })
    // An empty form and an unknown id never cause a 500.
    expect(status).toBeLessThan(500)
  }
}

test.each(combinableScopes)(
  'the navigation leads a member whose role has only the scope %s nowhere else',
  async (scope) => {
    const { text } = await clientAs(scope).get('/dashboard')
    const links = leadsTo(text).filter((route) => route in needed)
    expect(links.filter((route) => !allows(custom(scope), route))).toStrictEqual([])
    expect(links.length).toBeGreaterThan(1)
  },
)

test.each(combinableScopes)(
  'no page shows a form to a member whose role has only the scope %s',
  async (scope) => {
    for (const path of Object.values(acme.paths)) {
      const { status, text } = await clientAs(scope).get(path)
      if (status !== 200) continue
      const forms = leadsTo(text).filter((route) => route.startsWith('POST ') && route in needed)
      expect({ path, refused: forms.filter((route) => !allows(custom(scope), route)) }).toStrictEqual({
        path,
        refused: [],
      })
    }
  },
)

test('a page that the role does not open names the scope that it lacks', async () => {
  const { status, text } = await clientAs('usage:read').get('/dashboard/sales')
  expect(status).toBe(403)
  expect(text).toContain('lacks the scope licenses:read')
})

/** The route behind an address: of several that fit, the one with the fewest parameters. */
function routeOf(method: Route['method'], url: string): string | undefined {
  const [path] = url.split(/[?#]/)
  const [best] = routes
    .filter((route) => route.method === method)
    .filter((route) => new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path ?? ''))
    .sort((a, b) => a.path.split(':').length - b.path.split(':').length)
  return best && nameOf(best)
}

/** Everything of the dashboard that a page leads to. */
function leadsTo(text: string): string[] {
  const links = [...text.matchAll(/<a [^>]*href="(\/dashboard[^"]*)"/g)].map(
    ([, url = '']) => ['GET', url] as const,
  )
  const forms = [...text.matchAll(/<form [^>]*>/g)].map(([form]) => {
    const [, url = ''] = /action="([^"]*)"/.exec(form) ?? []
    return [form.includes('method="post"') ? 'POST' : 'GET', url] as const
  })
  return [...links, ...forms].map(([method, url]) => routeOf(method, url) ?? `${method} ${url}`)
}

test.each(Role.options)(
  'no page shows a member with the role %s what the role does not allow',
  async (role) => {
    const client = clientAs(role)
    let pages = 0
    for (const path of Object.values(acme.paths)) {
      const { status, text } = await client.get(path)
      if (status !== 200) continue
      pages += 1
      const refused = leadsTo(text).filter((route) => route in needed && !allows(role, route))
      expect({ path, refused }).toStrictEqual({ path, refused: [] })
      expect({
        path,
        nowhere: leadsTo(text).filter((route) => !(route in needed) && !isOpen(route)),
      }).toStrictEqual({
        path,
        nowhere: [],
      })
    }
    expect(pages).toBeGreaterThan(20)
  },
)

const isOpen = (route: string) => routes.some((one) => nameOf(one) === route && !isGuarded(one))

/** The columns of the table in the documentation, in order. */
const columns: readonly Permission[] = [
  'ask_for_changes',
  'decide_confirmations',
  'change_licenses',
  'manage_products',
  'manage_connections',
  'manage_tokens',
  'manage_members',
  'manage_settings',
]

test('the table of the documentation says the same', () => {
  const text = readFileSync(new URL('../../docs/concepts/dashboard.md', import.meta.url), 'utf8')
  for (const role of Role.options) {
    const row = text.split('\n').find((line) => line.startsWith(`| \`${role}\``)) ?? ''
    const cells = row.split('|').map((cell) => cell.trim())
    const said = columns.filter((_column, index) => cells[index + 3] === 'yes')
    expect({ role, said }).toStrictEqual({ role, said: columns.filter((column) => may(role, column)) })
  }
})
