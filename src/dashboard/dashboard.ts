import type { KeyObject } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { relyingPartyOf } from '../access/passkey-ceremony.ts'
import { sweep } from '../access/sessions.ts'
import { readForms } from '../http/pages/read-forms.ts'
import { guardPages, refuseForeignForms } from '../http/pages/security.ts'
import { noSuchPath } from '../http/problem.ts'
import type { Ports } from '../ports.ts'
import { accountRoutes } from './account/route.ts'
import { approvalPages } from './approvals/route.ts'
import { assetsRoot, serveAssets } from './assets.ts'
import { auditPage } from './audit/route.ts'
import { customerPages } from './customers/route.ts'
import { deliveryPages } from './deliveries/route.ts'
import { devicePages } from './device-login/route.ts'
import { deviceListPage } from './devices/route.ts'
import { answerFailures } from './frame/failures.ts'
import { noteFreshness } from './frame/freshness.ts'
import { pagesOf, partsOf } from './frame/page.ts'
import { pageRoute } from './frame/page-route.ts'
import { homePage } from './home/route.ts'
import { importPages } from './import/route.ts'
import { insightPages } from './insights/route.ts'
import { creditPackForm } from './integrations/credit-packs-route.ts'
import { endpointForms } from './integrations/endpoint-route.ts'
import { offeredPage } from './integrations/offered-route.ts'
import { providerPages } from './integrations/provider-route.ts'
import { integrationPages } from './integrations/route.ts'
import { licenseActions } from './license/actions-route.ts'
import { personSeatPages } from './license/people-route.ts'
import { evidencePage, licensePage } from './license/route.ts'
import { licenseChangePages } from './license-changes/route.ts'
import { licenseExportPages } from './licenses/export-route.ts'
import { licensePages } from './licenses/route.ts'
import { one } from './lists/lists.ts'
import { mailboxPages } from './mailbox/route.ts'
import { rolePages } from './members/roles-route.ts'
import { memberPages } from './members/route.ts'
import { meteredUseFile } from './metered-use/bill-route.ts'
import { licenseLinesPage } from './metered-use/lines-route.ts'
import { newLicensePages } from './new-license/route.ts'
import type { PageContext } from './page-context.ts'
import { portalPages } from './portal/route.ts'
import { productPages } from './products/route.ts'
import { licenseProofsPage } from './proofs/license-route.ts'
import { logProofPage } from './proofs/log-route.ts'
import { refusalsPage } from './refusals/route.ts'
import { resellerOwnPages } from './reseller/route.ts'
import { resellerPages } from './resellers/route.ts'
import { salePages } from './sales/route.ts'
import { searchPage } from './search/route.ts'
import { guardRoutes } from './session/principal.ts'
import { home } from './session/redirect-with.ts'
import { registerSessions } from './session/session.ts'
import { settingPages } from './settings/route.ts'
import { backChannelLogout } from './sign-in/back-channel.ts'
import { knownBrowsers } from './sign-in/failures.ts'
import { askForProof } from './sign-in/proof.ts'
import { providerSignInRoutes } from './sign-in/provider-route.ts'
import { confirmRoutes, signInRoutes, signOutRoute } from './sign-in/route.ts'
import { startPages } from './start/route.ts'
import { systemPage } from './system/route.ts'
import { tokenPages } from './tokens/route.ts'
import { webhookPages } from './webhooks/route.ts'
import { welcomeRoutes } from './welcome/route.ts'

type DashboardOptions = Pick<PageContext, 'ports' | 'cursors' | 'baseUrl' | 'readiness' | 'limits'> & {
  cookieKey: KeyObject
}

const sweepEveryMs = 3_600_000

/** The dashboard. Its plugins are registered only for its own pages, so that API requests do not pay for them. */
export async function dashboard(app: FastifyInstance, options: DashboardOptions): Promise<void> {
  const { ports, cursors, baseUrl, readiness, limits } = options
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
      const endSession = await registerSessions(pages, { ...options, isHttps })
      refuseForeignForms(pages)
      noteFreshness(pages, ports)
      const show = pagesOf(ports, baseUrl)
      answerFailures(pages, show)
      const context: PageContext = {
        ports,
        cursors,
        party: relyingPartyOf(baseUrl),
        show,
        showPart: partsOf(ports, baseUrl),
        endSession,
        browsers: knownBrowsers(ports, isHttps),
        baseUrl,
        readiness,
        limits,
      }
      // Before views are recorded: a form that waits for a proof shows nothing.
      askForProof(pages, context)
      guardRoutes(pages, ports)
      routes(pages, context)
    },
    { prefix: home },
  )
  await app.register((logouts) => backChannelLogout(logouts, { ports }))
  shortAddresses(app)
  sweepHourly(app, ports)
}

function routes(app: FastifyInstance, context: PageContext): void {
  homePage(app, context)
  startPages(app, context)
  searchPage(app, context)
  systemPage(app, context)
  logProofPage(app, context)
  licenseProofsPage(app, context)
  auditPage(app, context)
  signInRoutes(app, context)
  providerSignInRoutes(app, context)
  signOutRoute(app, context)
  confirmRoutes(app, context)
  welcomeRoutes(app, context)
  approvalPages(app, context)
  devicePages(app, context)
  licensePages(app, context)
  licenseExportPages(app, context)
  newLicensePages(app, context)
  importPages(app, context)
  productPages(app, context)
  customerPages(app, context)
  resellerPages(app, context)
  resellerOwnPages(app, context)
  licensePage(app, context)
  personSeatPages(app, context)
  licenseActions(app, context)
  licenseChangePages(app, context)
  licenseLinesPage(app, context)
  meteredUseFile(app, context)
  evidencePage(app, context)
  insightPages(app, context)
  deviceListPage(app, context)
  refusalsPage(app, context)
  salePages(app, context)
  deliveryPages(app, context)
  integrationPages(app, context)
  providerPages(app, context)
  endpointForms(app, context)
  webhookPages(app, context)
  offeredPage(app, context)
  creditPackForm(app, context)
  mailboxPages(app, context)
  tokenPages(app, context)
  memberPages(app, context)
  rolePages(app, context)
  settingPages(app, context)
  portalPages(app, context)
  accountRoutes(app, context)
}

/** Short URLs that people type: the bare host, and the page for device codes. */
function shortAddresses(app: FastifyInstance): void {
  app.get('/', pageRoute({ foreignQuery: 'in links' }), async (request, reply) => {
    if (!request.headers.accept?.includes('text/html')) throw noSuchPath()
    return reply.redirect(home, 303)
  })
  const Query = z.object({ code: one })
  app.get('/login', pageRoute({ query: Query, foreignQuery: 'in links' }), async (request, reply) => {
    const { code } = Query.parse(request.query)
    return reply.redirect(
      `${home}/device${code ? `?code=${encodeURIComponent(code.slice(0, 40))}` : ''}`,
      303,
    )
  })
}

/** Deletes expired sessions and similar rows every hour. */
function sweepHourly(app: FastifyInstance, ports: Ports<'db' | 'now'>): void {
  const tidy = () =>
    void sweep(ports.db, ports.now()).catch((err: unknown) => app.log.warn({ err }, 'dashboard.sweep_failed'))
  const timer = setInterval(tidy, sweepEveryMs)
  timer.unref()
  app.addHook('onClose', async () => clearInterval(timer))
}
