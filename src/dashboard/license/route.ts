import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listDeliveries } from '../../../projections/deliveries/queries.ts'
import { findLicense, type LicenseEntry, listDevices } from '../../../projections/licenses/queries.ts'
import { findSeat } from '../../../projections/licenses/seats.ts'
import { findSaleOfLicense } from '../../../projections/sales/queries.ts'
import { recordAudit } from '../../commands/audit.ts'
import { allowFiles } from '../../commands/devices/files.ts'
import { allowRelays } from '../../commands/devices/relays.ts'
import { isSendable } from '../../commands/licenses/send-key.ts'
import { metersOfLicenses } from '../../commands/meters/owners.ts'
import { momentOf } from '../../commands/origin.ts'
import { isId } from '../../credentials/id.ts'
import type { Seat } from '../../domain/licenses/seats.ts'
import { may } from '../../domain/members/roles.ts'
import { gatherEvidence } from '../../evidence/evidence.ts'
import { licenseAsOf, seatsInOrder } from '../../history/as-of.ts'
import { type Comparison, compareMoments } from '../../history/compare.ts'
import { readHistory } from '../../history/entries.ts'
import type { AsOf } from '../../history/moment.ts'
import { sendArchive } from '../../http/licenses/detail.ts'
import { deviceView, licenseView as licenseOf } from '../../http/licenses/license.ts'
import { relayView } from '../../http/licenses/relays.ts'
import { spend } from '../../http/limits/rate-limit.ts'
import { notFound, Problem } from '../../http/problem.ts'
import { asOfFrom, asOfIn, asOf as asOfText } from '../../http/query.ts'
import type { Ports } from '../../ports.ts'
import { readTelemetry } from '../../usage/device-telemetry.ts'
import { listRefusals } from '../../usage/read-refusals.ts'
import { maxOfLicense } from '../../usage/refusals-sql.ts'
import { readPlaces } from '../../usage/sharing.ts'
import { unknownPerson } from '../../vault/subjects.ts'
import { explain } from '../../verdicts/explain.ts'
import { changesFor } from '../license-changes/route.ts'
import { meterQuery, standingUseOf } from '../metered-use/use.ts'
import type { PageContext } from '../page-context.ts'
import { proofOfEvent } from '../proofs/log-route.ts'
import { seatQuery, seatUseOf, whatIfOf } from '../seat-use/seat-use.ts'
import { auditedPage, originOfMember, principalOf } from '../session/principal.ts'
import { actionsFor } from './actions-route.ts'
import { licenseView } from './view.ts'

const pageSize = 50
/** How many deliveries the license's page shows; the list of deliveries has all of them. */
const maxDeliveries = 20
/** As many as are kept of a license. */
const maxRefusals = maxOfLicense

const sequence = z.string().regex(/^\d{1,9}$/)
const Query = z.object({
  asOf: asOfText,
  device: z
    .string()
    .max(256)
    .optional()
    .transform((device) => (device === '' ? undefined : device)),
  /** The newest event on this page of the history. */
  upTo: sequence.transform(Number).optional(),
  compare: z
    .string()
    // The longest pair of moments; the pattern would be slow on longer text.
    .max(80, { abort: true })
    .regex(/^[\dTZ:.-]+?\.\.[\dTZ:.-]+$/)
    .optional(),
  /** Fields of the forms, which are redirected to a URL in the canonical form. */
  at: z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/)
    .optional(),
  from: sequence.optional(),
  to: sequence.optional(),
  ...seatQuery,
  ...meterQuery,
})
type Query = z.infer<typeof Query>

type OneRequest = FastifyRequest<{ Params: { id: string } }>

/** A license: its present or past state, the explanation of its answers, and its history. */
export function licensePage(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = auditedPage('licenses:read', 'license', Query)
  app.get('/licenses/:id', page, async (request: OneRequest, reply) => {
    const { tenantId, role } = principalOf(request)
    const { id } = request.params
    const query = queryIn(request)
    const address = normalizedQuery(query)
    if (address !== undefined) return reply.redirect(`/dashboard/licenses/${id}?${address}`, 303)
    const now = isId('lic', id) ? await findLicense(ports.db, tenantId, id) : undefined
    if (!now) throw notFound('license')
    const { asOf, device, upTo } = query
    const place = { tenantId, licenseId: id }
    await ports.refusals.flush()
    const [
      shown,
      explanation,
      comparison,
      history,
      sale,
      deliveries,
      seat,
      refused,
      keyIsSendable,
      allowsFiles,
      allowsRelays,
      proof,
      seatUse,
      meters,
    ] = await Promise.all([
      asOf === undefined ? shownNow(ports, now) : shownThen(ports, place, asOfIn(asOf)),
      explain(ports, { ...place, deviceId: device, asOf: asOfFrom(asOf) }),
      comparisonOf(ports, place, query),
      readHistory(ports, place, { order: 'newest', after: upTo && upTo + 1, limit: pageSize }),
      findSaleOfLicense(ports.db, tenantId, id),
      listDeliveries(ports.db, tenantId, { licenseId: id }, { after: undefined, limit: maxDeliveries }),
      device === undefined ? undefined : findSeat(ports.db, tenantId, id, { deviceId: device }),
      listRefusals(ports.db, tenantId, { licenseId: id }, { after: undefined, limit: maxRefusals }),
      asOf === undefined && may(role, 'change_licenses') && isSendable(ports, now.license),
      asOf === undefined && allowFiles(ports, now.license),
      asOf === undefined && allowRelays(ports, now.license),
      proofOfEvent(ports, id, now.revision),
      asOf === undefined && now.license.floating ? seatUseNow(ports, place, query) : undefined,
      asOf === undefined ? standingUseOf(ports, metersOfLicenses, place, query) : undefined,
    ])
    const stop = asOf === undefined ? undefined : await eventAt(ports, place, explanation.sequence)
    return show(reply, {
      title: now.license.displayKey,
      nav: 'licenses',
      content: (view) =>
        licenseView(view, {
          question: { asOf, device },
          ...shown,
          explanation,
          stop,
          last: now.revision,
          comparison,
          history: { ...history, older: history.next, isFirst: upTo === undefined },
          sale,
          deliveries: deliveries.items,
          refusals: asOf === undefined ? refused.items : [],
          actions: actionsFor(role, now.license, seat?.seat),
          changes: changesFor(role, now.license, {
            keyIsSendable,
            allowsFiles,
            allowsRelays,
            hasRelays: now.license.relays.some(({ releasedAt }) => releasedAt === null),
          }),
          proof,
          ...seatUse,
          meters: meters && { ...meters, mayChange: may(role, 'change_licenses') },
          freesSeats: asOf === undefined && may(role, 'change_licenses'),
        }),
    })
  })
}

function queryIn(request: FastifyRequest): Query {
  const { success, data } = Query.safeParse(request.query)
  if (!success)
    throw new Problem(
      400,
      'invalid_request',
      'The page address contains an invalid moment. Open the license again.',
    )
  return data
}

/** The canonical query of a form's input, so that the URL can be kept and shared. */
function normalizedQuery({ at, from, to, device }: Query): string | undefined {
  const deviceParam = device === undefined ? {} : { device }
  if (at !== undefined) {
    const time = `${at.length === 16 ? `${at}:00` : at}.000Z`
    return new URLSearchParams({ asOf: time, ...deviceParam }).toString()
  }
  if (from === undefined || to === undefined) return undefined
  return new URLSearchParams({ compare: `${from}..${to}`, ...deviceParam }).toString()
}

type Place = { tenantId: string; licenseId: string }

async function seatUseNow(ports: Ports<'db' | 'now' | 'refusals'>, place: Place, query: Query) {
  const [seatUse, whatIf] = await Promise.all([
    seatUseOf(ports, place, query),
    whatIfOf(ports, place.licenseId, query),
  ])
  return { seatUse, whatIf }
}

async function shownNow(ports: Ports<'db' | 'now' | 'subjects'>, entry: LicenseEntry) {
  const { licenseId } = entry.license
  const telemetry = await readTelemetry(ports.db, licenseId)
  const seats = await listDevices(ports.db, licenseId)
  const places = await readPlaces(ports.db, licenseId)
  return { ...(await shownOf(ports, entry, momentOf(ports), seats, telemetry)), places }
}

/** Telemetry has no history, so past states do not show it. */
async function shownThen(
  ports: Ports<'db' | 'ledger' | 'now' | 'subjects'>,
  { tenantId, licenseId }: Place,
  asOf: AsOf,
) {
  const then = await licenseAsOf(ports, tenantId, licenseId, asOf)
  return shownOf(ports, then, then.at, seatsInOrder(then.license), new Map())
}

async function shownOf(
  ports: Ports<'subjects'>,
  entry: LicenseEntry,
  at: string,
  seats: readonly Seat[],
  telemetry: Awaited<ReturnType<typeof readTelemetry>>,
) {
  const { tenantId, holder } = entry.license
  const [person = unknownPerson] = await ports.subjects.openPeople(tenantId, [holder])
  const given = await ports.subjects.openDeviceNames(
    tenantId,
    seats.map(({ givenName }) => givenName),
  )
  const names = seats.flatMap(({ deviceId }, index) => {
    const name = given[index] ?? null
    return name === null ? [] : [[deviceId, name] as const]
  })
  return {
    license: licenseOf(entry, person, at),
    devices: seats.map(deviceView(telemetry)),
    relays: entry.license.relays.toReversed().map((relay) => relayView(relay, at)),
    givenNames: new Map(names),
  }
}

async function eventAt(ports: Ports<'db' | 'subjects'>, place: Place, sequence: number) {
  const { entries } = await readHistory(ports, place, { order: 'newest', after: sequence + 1, limit: 1 })
  return entries[0]
}

async function comparisonOf(
  ports: Ports<'db' | 'ledger' | 'now'>,
  place: Place,
  { compare }: Query,
): Promise<Comparison | undefined> {
  const [from, to] = (compare?.split('..') ?? []).map((side) => asOfText.safeParse(side).data)
  if (compare === undefined) return undefined
  if (from === undefined || to === undefined) {
    throw new Problem(
      400,
      'invalid_request',
      'The comparison in the page address is invalid. Give two event numbers, such as ?compare=3..7.',
    )
  }
  return compareMoments(ports, place, asOfIn(from), asOfIn(to))
}

const member = { config: { page: 'licenses:read' }, exposeHeadRoute: false, schema: { hide: true } } as const

/** The evidence archive of a license, the same as the API returns. */
export function evidencePage(app: FastifyInstance, { ports, limits }: PageContext): void {
  app.get(
    '/licenses/:id/evidence',
    member,
    async (request: FastifyRequest<{ Params: { id: string } }>, reply) => {
      const { tenantId } = principalOf(request)
      const { id } = request.params
      const origin = originOfMember(request)
      const onHit = () => ports.limitHits.count(tenantId, 'evidence')
      await spend(limits.evidence, tenantId, { reply, onHit })
      const evidence = isId('lic', id) ? await gatherEvidence(ports, tenantId, id, origin) : undefined
      if (!evidence) throw notFound('license')
      const entry = { action: 'exported', target: { kind: 'evidence', id } } as const
      await recordAudit(ports, tenantId, entry, origin)
      return sendArchive(reply, id, evidence)
    },
  )
}
