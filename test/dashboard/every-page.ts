import type { FastifyInstance } from 'fastify'
import { createMailChannel } from '../../src/mail/channel.ts'
import { receiveNotification } from '../../src/sales/receive.ts'
import type { TestApi } from '../harness/api.ts'
import { pointWebhook, startDispatch, type TestDispatch } from '../harness/dispatch.ts'
import { origin } from '../harness/ledger.ts'
import { purchase } from '../sales/notifications.ts'
import { parkedSale } from '../sales/shop.ts'
import type { Acme } from './acme.ts'
import type { Client } from './client.ts'
import { dashboardRoutes } from './routes.ts'

/** Adds a refunded sale and a parked one, with their deliveries and mails, which are made until it is stopped. */
export async function sellAtAcme({ ledger }: TestApi, { tenantId }: Acme): Promise<TestDispatch> {
  await pointWebhook(ledger, tenantId, 'http://127.0.0.1:9/hook')
  const dispatch = await startDispatch(ledger, {
    channels: { mail: createMailChannel(ledger.ports, 'https://keys.acme.example') },
  })
  const { sold, refunded, failed } = purchase('ada', { sold: { productId: 'acme-editor' } })
  for (const notification of [sold(), refunded('re_ada'), failed('in_ada')])
    await receiveNotification(ledger.ports, tenantId, notification, '{}', origin)
  await parkedSale(ledger, tenantId)
  return dispatch
}

/** Responses that are not pages, parts of pages, redirects, and the mail itself, which is read as text. */
const noPages = [
  // Those of the people of resellers: test/dashboard/resellers.test.ts.
  '/dashboard/reseller',
  '/dashboard/reseller/licenses',
  '/dashboard/reseller/licenses/:id',
  '/dashboard/reseller/customers',
  '/dashboard/reseller/customers/:id',
  '/dashboard/reseller/new-license',
  '/dashboard/approvals/waiting',
  '/dashboard/metered-use.csv',
  '/dashboard/licenses/:id/evidence',
  '/dashboard/licenses/:id/receipts/:sequence',
  '/dashboard/customers/find',
  '/dashboard/licenses/customer',
  '/dashboard/search',
  '/dashboard/start/test-purchase',
  '/dashboard/settings/webhook',
  '/dashboard/portal/logo',
  '/dashboard/integrations/:provider/arrival',
  '/dashboard/sign-in/:workspace/:provider',
  '/dashboard/sign-in/:workspace/:provider/callback',
]

/** Pages that no link leads to, for a workspace without connections. */
const unlinked = [
  '/dashboard/',
  '/dashboard/confirm',
  '/dashboard/device',
  '/dashboard/nothing',
  '/dashboard/sign-in/workspace',
  '/dashboard/integrations/stripe/secret',
  '/dashboard/integrations/stripe/items',
]

export type PageRead = { route: string; path: string; text: string }

/**
 * Follows the links of a signed-in member's pages.
 * @param most enough variants of one route, such as a revoked license or a parked sale
 * @returns each page read, and the routes that are read nowhere
 */
export async function readEveryPage(
  app: FastifyInstance,
  member: Client,
  { userCode, paths }: Acme,
  most = 3,
): Promise<{ pages: PageRead[]; missed: string[] }> {
  const routeFor = routeOf(app)
  const routes = dashboardRoutes(app).filter(({ method }) => method === 'GET')
  const pages: PageRead[] = []
  const seen = new Set<string>()
  const visits = new Map<string, number>()
  visits.set('/dashboard/sign-in', most).set('/dashboard/welcome/:secret', most)
  // Before other customers: it has one of everything.
  const waiting = [paths.customer, ...unlinked]
  const visit = async (path: string) => {
    seen.add(path)
    const route = routeFor(path)
    if (noPages.includes(route) || (visits.get(route) ?? 0) >= most) return
    visits.set(route, (visits.get(route) ?? 0) + 1)
    const { text } = await member.get(path)
    pages.push({ route, path, text })
    for (const [, href = ''] of text.matchAll(/(?:href|<iframe [^>]*src)="(\/dashboard[^"#]*)/g)) {
      const next = href.replaceAll('&amp;', '&')
      if (!seen.has(next)) waiting.push(next)
    }
  }
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift())
    if (!seen.has(path)) await visit(path)
  await member.get('/dashboard/device')
  await member.post('/dashboard/device', { code: userCode })
  await visit('/dashboard/device/review')
  const missed = routes.map(({ path }) => path).filter((path) => !visits.has(path) && !noPages.includes(path))
  return { pages, missed }
}

/** Finds the route of a path; the path itself when there is none. */
export function routeOf(app: FastifyInstance): (path: string) => string {
  const routes = dashboardRoutes(app).filter(({ method }) => method === 'GET')
  return (path) => {
    const [plain = ''] = path.split('?')
    const fits = (route: string) => new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`).test(plain)
    const all = routes.map((route) => route.path).filter(fits)
    return all.find((route) => !route.includes(':')) ?? all[0] ?? plain
  }
}
