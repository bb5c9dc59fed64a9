import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { isId } from '../../credentials/id.ts'
import { licenseStream } from '../../domain/streams.ts'
import { readHistory } from '../../history/entries.ts'
import { notFound, unavailable } from '../../http/problem.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { proofOfEvent } from './license-proofs.ts'
import { licenseProofsView } from './license-view.ts'

const pageSize = 25

const Query = z.object({ upTo: z.coerce.number().int().min(0).max(999_999_999).optional().catch(undefined) })
const Sequence = z.coerce.number().int().min(0).max(999_999_999)

type OneLicense = FastifyRequest<{ Params: { id: string } }>
type OneEvent = FastifyRequest<{ Params: { id: string; sequence: string } }>

/** The proofs of a license's events: which checkpoint covers each, and its receipt. */
export function licenseProofsPage(app: FastifyInstance, { services, show }: PageContext): void {
  const requireLicense = async (request: OneLicense | OneEvent) => {
    const { id } = request.params
    const found = isId('lic', id)
      ? await findLicense(services.db, principalOf(request).tenantId, id)
      : undefined
    if (!found) throw notFound('license')
    return found
  }

  app.get('/licenses/:id/proofs', auditedPage('license'), async (request: OneLicense, reply) => {
    const { license } = await requireLicense(request)
    const { licenseId, tenantId } = license
    const { upTo } = Query.parse(request.query)
    const after = upTo === undefined ? undefined : upTo + 1
    const history = await readHistory(
      services,
      { tenantId, licenseId },
      { order: 'newest', after, limit: pageSize },
    )
    const events = await Promise.all(
      history.entries.map(async (entry) => ({
        entry,
        proof: await proofOfEvent(services, licenseId, entry.sequence),
      })),
    )
    return show(reply, {
      title: `Proofs of ${license.displayKey}`,
      nav: 'licenses',
      content: () => licenseProofsView({ license, events, older: history.next }),
    })
  })

  app.get('/licenses/:id/receipts/:sequence', auditedPage('license'), async (request: OneEvent, reply) => {
    const { license, revision } = await requireLicense(request)
    const sequence = Sequence.safeParse(request.params.sequence)
    if (!sequence.success || sequence.data > revision) throw notFound('event')
    const event = { stream: licenseStream(license.licenseId), revision: sequence.data }
    const receipt = await services.receipts.waitFor(event)
    if (!receipt) throw unavailable('No checkpoint covers this event yet. Try again in some seconds.', 2)
    const name = `receipt-${license.licenseId}-${String(sequence.data)}.json`
    return reply
      .type('application/json')
      .header('content-disposition', `attachment; filename="${name}"`)
      .send(`${JSON.stringify(receipt)}\n`)
  })
}
