import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { readHistoryPage } from '../../../projections/history/queries.ts'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { isId } from '../../credentials/id.ts'
import { guessableHashOf, revealsKey } from '../../domain/licenses/guessable.ts'
import { licenseStream } from '../../domain/streams.ts'
import { readHistory } from '../../history/entries.ts'
import { notFound, Problem, unavailable } from '../../http/problem.ts'
import { numberIn } from '../../http/schemas.ts'
import { whyWithheld } from '../../notary/withheld.ts'
import type { Ports } from '../../ports.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { licenseProofsView } from './license-view.ts'
import { proofOfEvent } from './log-route.ts'

const pageSize = 25

const Query = z.object({ upTo: numberIn(0, 999_999_999).optional().catch(undefined) })
const Sequence = numberIn(0, 999_999_999)

/** The hash of the license's imported key, if the key can be guessed from it. */
async function guessableHash({ db }: Ports<'db'>, licenseId: string): Promise<string | undefined> {
  const [first] = await readHistoryPage(db, licenseId, 'oldest', undefined, 1)
  return first && guessableHashOf(first.event)
}

type OneLicense = FastifyRequest<{ Params: { id: string } }>
type OneEvent = FastifyRequest<{ Params: { id: string; sequence: string } }>

/** The proofs of a license's events: which checkpoint covers each, and its receipt. */
export function licenseProofsPage(app: FastifyInstance, { ports, show }: PageContext): void {
  const requireLicense = async (request: OneLicense | OneEvent) => {
    const { id } = request.params
    const found = isId('lic', id) ? await findLicense(ports.db, principalOf(request).tenantId, id) : undefined
    if (!found) throw notFound('license')
    return found
  }

  app.get(
    '/licenses/:id/proofs',
    auditedPage('licenses:read', 'license', Query),
    async (request: OneLicense, reply) => {
      const { license } = await requireLicense(request)
      const { licenseId, tenantId } = license
      const { upTo } = Query.parse(request.query)
      const after = upTo === undefined ? undefined : upTo + 1
      const history = await readHistory(
        ports,
        { tenantId, licenseId },
        { order: 'newest', after, limit: pageSize },
      )
      const guessable = await guessableHash(ports, licenseId)
      const events = await Promise.all(
        history.entries.map(async (entry, at) => {
          const recorded = history.recorded[at]
          const isWithheld = recorded !== undefined && revealsKey(recorded.event, guessable)
          return { entry, isWithheld, proof: await proofOfEvent(ports, licenseId, entry.sequence) }
        }),
      )
      return show(reply, {
        title: `Proofs of ${license.displayKey}`,
        nav: 'licenses',
        content: () => licenseProofsView({ license, events, older: history.next }),
      })
    },
  )

  app.get(
    '/licenses/:id/receipts/:sequence',
    auditedPage('licenses:read', 'license'),
    async (request: OneEvent, reply) => {
      const { license, revision } = await requireLicense(request)
      const sequence = Sequence.safeParse(request.params.sequence)
      if (!sequence.success || sequence.data > revision) throw notFound('event')
      const event = { stream: licenseStream(license.licenseId), revision: sequence.data }
      const receipt = await ports.receipts.waitFor(event)
      if (receipt === 'withheld')
        throw new Problem(404, 'invalid_request', `This event has no receipt: ${whyWithheld}.`)
      if (!receipt) throw unavailable('No checkpoint covers this event yet. Try again in a few seconds.', 2)
      const name = `receipt-${license.licenseId}-${String(sequence.data)}.json`
      return reply
        .type('application/json')
        .header('content-disposition', `attachment; filename="${name}"`)
        .send(`${JSON.stringify(receipt)}\n`)
    },
  )
}
