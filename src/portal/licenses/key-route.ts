import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { remintLicense } from '../../commands/licenses/changes.ts'
import { sendKey } from '../../commands/licenses/send-key.ts'
import { notFound } from '../../http/problem.ts'
import { type PortalContext, page } from '../context.ts'
import { showPage } from '../page.ts'
import { originOfCustomer } from '../visit.ts'
import { replaceView } from './action-views.ts'
import { attempt, TooOften } from './actions-route.ts'
import { type LicenseRequest, licenseOf } from './route.ts'
import { licenseDetails } from './shown.ts'

/** Each replacement is a mail and a new key. */
const replacing = { burst: 3, intervalMs: 8 * 3_600_000 }

const ReplaceForm = z.object({ replaces: z.string().max(100).catch('') })

/** A person has the key of their license sent again, or replaced where the product allows it. */
export function keyActions(app: FastifyInstance, { ports }: PortalContext): void {
  const path = '/:tenantId/licenses/:id'
  /** @throws Problem 404 where the page offers no such action */
  const offered = async (
    request: LicenseRequest,
    reply: Parameters<typeof licenseOf>[2],
    what: 'maySendKey' | 'mayReplaceKey',
  ) => {
    const found = await licenseOf(ports, request, reply)
    if (!found) return undefined
    const details = await licenseDetails(ports, found.entry, found.customer)
    if (!details[what]) throw notFound('page')
    return { ...found, details }
  }

  app.post(`${path}/send-key`, page, async (request: LicenseRequest, reply) => {
    const found = await offered(request, reply, 'maySendKey')
    if (!found) return reply
    const { tenantId, licenseId } = found.entry.license
    return attempt(reply, found, 'keySent', () =>
      sendKey(
        ports,
        { tenantId, licenseId, reason: null, language: found.visit.language },
        originOfCustomer(request, found.customer),
      ),
    )
  })

  app.get(`${path}/replace-key`, page, async (request: LicenseRequest, reply) => {
    const found = await offered(request, reply, 'mayReplaceKey')
    if (!found) return reply
    const { visit, details } = found
    const content = replaceView(visit, details.license)
    return showPage(reply, visit, { title: visit.say('replaceTitle'), content })
  })

  app.post(`${path}/replace-key`, page, async (request: LicenseRequest, reply) => {
    const found = await offered(request, reply, 'mayReplaceKey')
    if (!found) return reply
    const { tenantId, licenseId, displayKey } = found.entry.license
    const { replaces } = ReplaceForm.parse(request.body ?? {})
    return attempt(reply, found, 'keyReplaced', async () => {
      // The form was sent before.
      if (replaces !== displayKey) return
      const bucket = `portal replace ${licenseId}`
      const taken = await ports.attempts.take([{ bucket, allowance: replacing }])
      if (!taken.allowed) throw new TooOften()
      // Devices keep their seats: else a new key would free more of them than the product allows.
      await remintLicense(
        ports,
        { tenantId, licenseId, keepDevices: true, sendKey: true, language: found.visit.language },
        originOfCustomer(request, found.customer),
      )
    })
  })
}
