import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { certifyRelay, releaseRelay } from '../../commands/devices/relays.ts'
import type { PortalTextKey } from '../../domain/portal/texts.ts'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import { notFound } from '../../http/problem.ts'
import { maxRelayStatementLength } from '../../signing/relay-bounds.ts'
import { readRelayRelease } from '../../signing/relay-statements.ts'
import { type PortalContext, page } from '../context.ts'
import { showPage } from '../page.ts'
import { tooMany } from '../sign-in/route.ts'
import { originOfCustomer } from '../visit.ts'
import { relayAnswerView, relayFormView } from './relays-view.ts'
import { type FoundLicense, type LicenseRequest, licenseOf } from './route.ts'
import { licenseDetails } from './shown.ts'

const Text = z.object({ request: z.string().trim().max(maxRelayStatementLength).catch('') })

/** A relay reports every minute since its last renewal. */
const withLongText = { ...page, bodyLimit: 1_048_576 }

/** Each answer is an event of the license. */
const asking = { burst: 20, intervalMs: 5 * 60_000 }

const problems: Partial<Record<RefusalCode, PortalTextKey>> = {
  relay_request_unreadable: 'relayWrong',
  relay_release_unreadable: 'relayWrong',
  relay_request_of_another_license: 'relayOther',
  relay_not_found: 'relayOther',
  relay_request_outdated: 'relayOld',
  relay_released: 'relayOld',
  relay_copied: 'relayCopied',
  seat_limit_reached: 'relayFull',
}

/** A person enrolls and renews relays in their network, and gives their seats back, where the product allows files. */
export function relayRoutes(app: FastifyInstance, { ports }: PortalContext): void {
  /** @throws Problem 404 where the page offers no relays */
  const offered = async (request: LicenseRequest, reply: FastifyReply) => {
    const found = await licenseOf(ports, request, reply)
    if (!found) return undefined
    const details = await licenseDetails(ports, found.entry, found.customer)
    if (!details.mayHaveRelays) throw notFound('page')
    return found
  }
  const form = (
    reply: FastifyReply,
    { visit, entry }: FoundLicense,
    typed: { text: string; problem?: PortalTextKey },
  ) =>
    showPage(
      reply,
      visit,
      { title: visit.say('relayTitle'), content: relayFormView(visit, entry.license.licenseId, typed) },
      typed.problem ? 422 : 200,
    )

  app.get('/:tenantId/licenses/:id/relay', page, async (request: LicenseRequest, reply) => {
    const found = await offered(request, reply)
    return found ? form(reply, found, { text: '' }) : reply
  })

  app.post('/:tenantId/licenses/:id/relay', withLongText, async (request: LicenseRequest, reply) => {
    const found = await offered(request, reply)
    if (!found) return reply
    const { visit, entry, customer } = found
    const { request: text } = Text.parse(request.body ?? {})
    const { tenantId, licenseId } = entry.license
    const taken = await ports.attempts.take([{ bucket: `portal relay ${licenseId}`, allowance: asking }])
    if (!taken.allowed) return tooMany(reply, visit, taken.retryAfterSeconds)
    const origin = originOfCustomer(request, customer)
    try {
      if (readRelayRelease(text, entry.license)) {
        await releaseRelay(ports, { tenantId, licenseId, release: text }, origin)
        return reply.redirect(`${visit.home}/licenses/${licenseId}?done=relayReleased`, 303)
      }
      const made = await certifyRelay(ports, { tenantId, licenseId, request: text }, origin)
      const content = relayAnswerView(visit, licenseId, made)
      return showPage(reply, visit, { title: visit.say('relayTitle'), content })
    } catch (error) {
      const problem = error instanceof Refusal ? (problems[error.code] ?? 'notPossible') : undefined
      if (!problem) throw error
      return form(reply, found, { text, problem })
    }
  })
}
