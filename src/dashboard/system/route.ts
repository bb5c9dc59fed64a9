import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { countDeliveriesByHour } from '../../../projections/deliveries/counts.ts'
import { countParked, listParkedOfTenant } from '../../../projections/runner/parked.ts'
import { findLastRebuild, rebuildPosition } from '../../../projections/runner/rebuild.ts'
import { projectionStatus } from '../../../projections/runner/status.ts'
import { listSigningKeys } from '../../../projections/signing.ts'
import { listTokens } from '../../../projections/tokens/list.ts'
import { memberIn } from '../../access/member-sessions.ts'
import { listSignIns } from '../../access/sessions.ts'
import { momentOf } from '../../commands/origin.ts'
import { seesAddresses } from '../../domain/members/roles.ts'
import { actorNames } from '../../history/actors.ts'
import { type LimitKey, readLimitUse } from '../../limits/limit-use.ts'
import type { Ports } from '../../ports.ts'
import { readLimitHits } from '../../usage/limit-hits.ts'
import { pointsIn, type UsageRange, usageRange } from '../../usage/range.ts'
import { readUsage } from '../../usage/read.ts'
import { readAttention } from '../frame/navigation.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import {
  type NamedLimit,
  type ReadModelsShown,
  readModelsPart,
  type SignInShown,
  systemView,
} from './view.ts'

const hoursShown = 48
const hoursOfHits = 7 * 24
const maxSignIns = 20
/** The limits of at most this many tokens are shown, the newest first. */
const maxTokens = 50
/** The page must load while the event store hangs. */
const timeoutMs = 2000

/** The system page: the health of the installation, and the activity of this tenant alone. */
export function systemPage(app: FastifyInstance, context: PageContext): void {
  const { ports, readiness, show, showPart } = context
  app.get('/system', pageRoute({ page: 'usage:read' }), async (request, reply) => {
    const principal = principalOf(request)
    const readModels = await readModelsOf(ports, principal.tenantId)
    if (request.headers['hx-request'] === 'true')
      return showPart(reply, (view) => readModelsPart(view, readModels))
    const { db } = ports
    const [{ parts }, deliveries, activity, signingKeys, limits, limitHits, signIns] = await Promise.all([
      readiness(),
      deliveriesOf(ports, principal.tenantId),
      activityOf(ports, principal.tenantId),
      listSigningKeys(db, principal.tenantId, momentOf(ports)),
      limitsOf(context, principal.tenantId),
      limitHitsOf(ports, principal.tenantId),
      seesAddresses(principal.role) ? signInsOf(ports, principal.tenantId) : undefined,
    ])
    return show(reply, {
      title: 'System',
      nav: 'system',
      content: (view) =>
        systemView(view, {
          parts,
          readModels,
          deliveries,
          activity,
          signingKeys,
          limits,
          limitHits,
          signIns,
        }),
    })
  })
}

async function readModelsOf(
  { db, ledger }: Ports<'db' | 'ledger'>,
  tenantId: string,
): Promise<ReadModelsShown> {
  const limit = new AbortController()
  const late = setTimeout(timeoutMs, undefined, { signal: limit.signal }).catch(() => undefined)
  const answered = projectionStatus(db, ledger).catch(() => undefined)
  const [status, parked, own, rebuilding] = await Promise.all([
    Promise.race([answered, late]),
    countParked(db),
    listParkedOfTenant(db, tenantId),
    rebuildPosition(db),
  ])
  limit.abort()
  // Read after the running rebuild: a rebuild that ends in between is then found here.
  return { status, parked, own, rebuilding, lastRebuild: await findLastRebuild(db) }
}

function lastHours(ports: Ports<'now'>, hours = hoursShown): UsageRange {
  const from = new Date(ports.now().getTime() - (hours - 1) * 3_600_000).toISOString()
  const range = usageRange({ from, granularity: 'hour' }, momentOf(ports))
  if (typeof range === 'string') throw new Error(`the last hours are no range: ${range}`)
  return range
}

async function deliveriesOf(ports: Ports<'db' | 'now'>, tenantId: string) {
  const range = lastHours(ports)
  const [{ deliveries: waiting }, byHour] = await Promise.all([
    readAttention(ports, tenantId),
    countDeliveriesByHour(ports.db, tenantId, range),
  ])
  const found = new Map(byHour.map((hour) => [hour.at, hour]))
  const hours = pointsIn(range).map((at) => found.get(at) ?? { at, delivered: 0, pending: 0, abandoned: 0 })
  return { waiting, hours }
}

async function activityOf(ports: Ports<'db' | 'now' | 'usage'>, tenantId: string) {
  await ports.usage.flush()
  const { series } = await readUsage(ports.db, tenantId, undefined, lastHours(ports))
  return series
}

async function limitHitsOf(ports: Ports<'db' | 'limitHits' | 'now'>, tenantId: string) {
  await ports.limitHits.flush()
  return readLimitHits(ports.db, tenantId, lastHours(ports, hoursOfHits))
}

/** The limits of the whole tenant, and those of its recently used tokens. */
async function limitsOf({ ports, limits }: PageContext, tenantId: string): Promise<NamedLimit[]> {
  const { items } = await listTokens(
    ports.db,
    tenantId,
    { live: true, now: momentOf(ports) },
    { after: undefined, limit: maxTokens },
  )
  const names = new Map(items.map(({ token }) => [token.tokenId, token.name]))
  const ofTenant = (['runtime', 'clientTenant', 'clientNewInstances', 'checkout', 'evidence'] as const).map(
    (name): LimitKey => ({ name, key: tenantId }),
  )
  // Limits use the machine's clock, which the processes share.
  const ofTokens = [...names.keys()].map((key): LimitKey => ({ name: 'management', key }))
  const spent = await readLimitUse(ports.db, limits, [...ofTenant, ...ofTokens], Date.now())
  return spent
    .filter(({ name, share }) => name !== 'management' || share > 0)
    .map((one) => ({ ...one, who: names.get(one.key) ?? 'the workspace' }))
}

async function signInsOf(ports: Ports<'db' | 'subjects'>, tenantId: string): Promise<SignInShown[]> {
  const sessions = await listSignIns(ports.db, tenantId, maxSignIns)
  const nameOf = await actorNames(
    ports,
    tenantId,
    sessions.map(({ memberId }) => `member:${memberId}`),
  )
  return sessions.map(({ memberId, data, createdAt, lastSeenAt, endedAt }) => {
    const member = memberIn(data)
    return {
      who: nameOf(`member:${memberId}`),
      at: createdAt,
      address: member?.address ?? null,
      userAgent: member?.userAgent ?? null,
      lastSeenAt,
      isOver: endedAt !== null,
    }
  })
}
