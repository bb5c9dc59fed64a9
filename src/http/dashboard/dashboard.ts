import type { KeyObject } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { relyingPartyOf } from '../../access/passkey-ceremony.ts'
import { sweep } from '../../access/sweep.ts'
import type { Services } from '../../commands/services.ts'
import { noSuchPath } from '../problem.ts'
import { accountRoutes } from './account.ts'
import { approvalPages } from './approvals.ts'
import { assetsRoot, serveAssets } from './assets.ts'
import { auditPage } from './audit.ts'
import { confirmRoutes } from './confirm.ts'
import { customerPages } from './customers.ts'
import { deliveryPages } from './deliveries.ts'
import { devicePages } from './device.ts'
import { deviceListPage } from './devices.ts'
import { evidencePage } from './evidence.ts'
import { answerFailures } from './failures.ts'
import { readForms } from './forms.ts'
import { noteFreshness } from './freshness.ts'
import { homePage } from './home.ts'
import { integrationPages } from './integrations.ts'
import { knownBrowsers } from './known-browsers.ts'
import { licensePage } from './license.ts'
import { licenseActions } from './license-actions.ts'
import { queryOf } from './lists.ts'
import { mailboxPages } from './mailbox.ts'
import { memberPages } from './members.ts'
import { pagesOf, partsOf } from './page.ts'
import type { PageContext } from './page-context.ts'
import { guardRoutes } from './principal.ts'
import { recordPages } from './records.ts'
import { home } from './return-path.ts'
import { salePages } from './sales.ts'
import { searchPage } from './search.ts'
import { guardPages, refuseForeignForms } from './security.ts'
import { keepSessions } from './session.ts'
import { settingPages } from './settings.ts'
import { signInRoutes, signOutRoute } from './sign-in.ts'
import { systemPage } from './system.ts'
import { tokenPages } from './tokens.ts'
import { welcomeRoutes } from './welcome.ts'

type DashboardOptions = Pick<PageContext, 'services' | 'cursors' | 'baseUrl' | 'readiness' | 'limits'> & {
  cookieKey: KeyObject
}

const sweepEveryMs = 3_600_000

/** The pages for people. Everything that they need is registered for them alone, so that programs pay nothing for it. */
export async function dashboard(app: FastifyInstance, options: DashboardOptions): Promise<void> {
  const { services, cursors, baseUrl, readiness, limits } = options
  const isHttps = baseUrl.startsWith('https:')
  await app.register(
    async (assets) => {
      await guardPages(assets, isHttps)
      await serveAssets(assets)
    },
    { prefix: assetsRoot },
  )
  await app.register(
    async (pages) => {
      await guardPages(pages, isHttps)
      await readForms(pages)
      const endSession = await keepSessions(pages, { ...options, isHttps })
      refuseForeignForms(pages)
      guardRoutes(pages, services)
      noteFreshness(pages, services)
      const show = pagesOf(services, baseUrl)
      answerFailures(pages, show)
      routes(pages, {
        services,
        cursors,
        party: relyingPartyOf(baseUrl),
        show,
        showPart: partsOf(services, baseUrl),
        endSession,
        browsers: knownBrowsers(services, isHttps),
        baseUrl,
        readiness,
        limits,
      })
    },
    { prefix: home },
  )
  shortAddresses(app)
  keepTidy(app, services)
}

function routes(app: FastifyInstance, context: PageContext): void {
  homePage(app, context)
  searchPage(app, context)
  systemPage(app, context)
  auditPage(app, context)
  signInRoutes(app, context)
  signOutRoute(app, context)
  confirmRoutes(app, context)
  welcomeRoutes(app, context)
  approvalPages(app, context)
  devicePages(app, context)
  recordPages(app, context)
  customerPages(app, context)
  licensePage(app, context)
  licenseActions(app, context)
  evidencePage(app, context)
  deviceListPage(app, context)
  salePages(app, context)
  deliveryPages(app, context)
  integrationPages(app, context)
  mailboxPages(app, context)
  tokenPages(app, context)
  memberPages(app, context)
  settingPages(app, context)
  accountRoutes(app, context)
}

/** What people type themselves: the bare address, for which programs have no use, and the one to enter a code at. */
function shortAddresses(app: FastifyInstance): void {
  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    if (!request.headers.accept?.includes('text/html')) throw noSuchPath()
    return reply.redirect(home, 303)
  })
  app.get('/login', { schema: { hide: true } }, async (request, reply) => {
    const { code } = queryOf(request)
    return reply.redirect(
      `${home}/device${code ? `?code=${encodeURIComponent(code.slice(0, 40))}` : ''}`,
      303,
    )
  })
}

/** Removes what has run out, every hour. */
function keepTidy(app: FastifyInstance, services: Services): void {
  const tidy = () =>
    void sweep(services.db, services.now()).catch((err: unknown) =>
      app.log.warn({ err }, 'dashboard.sweep_failed'),
    )
  const timer = setInterval(tidy, sweepEveryMs)
  timer.unref()
  app.addHook('onClose', async () => clearInterval(timer))
}
