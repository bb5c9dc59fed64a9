import type { KeyObject } from 'node:crypto'
import fastifyCookie from '@fastify/cookie'
import type { FastifyError, FastifyInstance } from 'fastify'
import { type PortalTextKey, sayIn } from '../domain/portal/texts.ts'
import { problemOf } from '../http/errors.ts'
import { readForms } from '../http/pages/read-forms.ts'
import { guardPages, refuseForeignForms } from '../http/pages/security.ts'
import { notFound } from '../http/problem.ts'
import { activatePages } from './activate/route.ts'
import { serveAssets } from './assets.ts'
import type { PortalContext } from './context.ts'
import { cookiesOf, formTokens } from './cookies.ts'
import { deviceActions } from './licenses/actions-route.ts'
import { fileRoutes } from './licenses/files-route.ts'
import { keyActions } from './licenses/key-route.ts'
import { personSeatRoutes } from './licenses/person-seats-route.ts'
import { relayRoutes } from './licenses/relays-route.ts'
import { licensePages } from './licenses/route.ts'
import { organizationRoutes } from './organizations/route.ts'
import { usageRoutes } from './organizations/usage-route.ts'
import { message, showPage, showPlain } from './page.ts'
import { purchaseRoutes } from './purchases/route.ts'
import { signInRoutes } from './sign-in/route.ts'
import { guardViewings, viewingRoutes } from './viewing/route.ts'
import { receiveVisits } from './visit.ts'

type PortalOptions = Pick<PortalContext, 'ports' | 'baseUrl'> & { cookieKey: KeyObject }

/** The portal of each vendor's customers, an application of its own beside the dashboard. */
export async function portal(app: FastifyInstance, options: PortalOptions): Promise<void> {
  const { ports, baseUrl, cookieKey } = options
  const isHttps = baseUrl.startsWith('https:')
  await app.register(
    async (pages) => {
      await guardPages(pages, isHttps)
      await readForms(pages)
      await pages.register(fastifyCookie)
      const cookies = cookiesOf(isHttps)
      const tokens = formTokens(cookieKey)
      refuseForeignForms(pages)
      receiveVisits(pages, { ports, cookies, tokens })
      guardViewings(pages, { ports, cookies })
      answerFailures(pages)
      const context: PortalContext = {
        ports,
        baseUrl,
        cookies,
        tokenOf: (tenantId, browser) => tokens.make({ tenantId, kind: 'browser', secret: browser }),
      }
      serveAssets(pages, ports)
      signInRoutes(pages, context)
      viewingRoutes(pages, context)
      licensePages(pages, context)
      deviceActions(pages, context)
      keyActions(pages, context)
      activatePages(pages, context)
      fileRoutes(pages, context)
      relayRoutes(pages, context)
      personSeatRoutes(pages, context)
      organizationRoutes(pages, context)
      usageRoutes(pages, context)
      purchaseRoutes(pages, context)
    },
    { prefix: '/portal' },
  )
}

const texts: Record<number, readonly [title: PortalTextKey, text: PortalTextKey]> = {
  400: ['notReadTitle', 'notRead'],
  403: ['formExpiredTitle', 'formExpired'],
  404: ['notFoundTitle', 'notFound'],
}

/** Shows errors as pages that say the same to everybody, whatever the reason. */
function answerFailures(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { status, headers } = problemOf(error)
    if (status >= 500) request.log.error({ err: error, request_id: request.id }, 'request.failed')
    const [title, text] = texts[status] ?? (['failedTitle', 'failed'] as const)
    reply.headers(headers)
    const visit = request.portalVisit
    const say = visit?.say ?? sayIn('en', {})
    if (!visit) return showPlain(reply, say(title), say(text), status)
    return showPage(reply, visit, { title: say(title), content: message(say(title), say(text)) }, status)
  })
  app.setNotFoundHandler(() => {
    throw notFound('page')
  })
}
