import type { FastifyInstance } from 'fastify'
import { certifyRelay, releaseRelay } from '../../commands/devices/relays.ts'
import { maxRelayStatementLength, relayBodyLimit } from '../../signing/relay-bounds.ts'
import { readRelayRelease } from '../../signing/relay-statements.ts'
import { type PortalContext, page } from '../context.ts'
import { carriedPage } from './carried-route.ts'
import { relayAnswerView, relayFormView } from './relays-view.ts'
import type { LicenseRequest } from './route.ts'

/** A person enrolls and renews relays in their network, and gives their seats back, where the product allows files. */
export function relayRoutes(app: FastifyInstance, context: PortalContext): void {
  const { ports } = context
  const { ask, answer } = carriedPage(context, {
    name: 'relay',
    title: 'relayTitle',
    released: 'relayReleased',
    maxLength: maxRelayStatementLength,
    isOffered: ({ mayHaveRelays }) => mayHaveRelays,
    view: relayFormView,
    problems: {
      relay_request_unreadable: 'relayWrong',
      relay_release_unreadable: 'relayWrong',
      relay_request_of_another_license: 'relayOther',
      relay_not_found: 'relayOther',
      relay_request_outdated: 'relayOld',
      relay_released: 'relayOld',
      relay_copied: 'relayCopied',
      seat_limit_reached: 'relayFull',
    },
  })
  const path = '/:tenantId/licenses/:id/relay'

  app.get(path, page, (request: LicenseRequest, reply) => ask(request, reply, ''))

  app.post(path, { ...page, bodyLimit: relayBodyLimit }, (request: LicenseRequest, reply) =>
    answer(request, reply, async ({ visit, entry }, text, origin) => {
      const { tenantId, licenseId } = entry.license
      if (readRelayRelease(text, entry.license)) {
        await releaseRelay(ports, { tenantId, licenseId, release: text }, origin)
        return undefined
      }
      const made = await certifyRelay(ports, { tenantId, licenseId, request: text }, origin)
      return relayAnswerView(visit, licenseId, made)
    }),
  )
}
