import { findPublicEvent } from '../../projections/deliveries/public-events.ts'
import { countPendingOf, countReplayable, listReplayable } from '../../projections/deliveries/replayable.ts'
import { findReplay } from '../../projections/replays.ts'
import { findWebhookEndpoint, listEndpoints } from '../../projections/webhooks.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ReplayOnly } from '../domain/replays/events.ts'
import { type KnownReplay, type ReplayCommand, replays } from '../domain/replays/replay.ts'
import { WebhookEventName } from '../domain/webhooks/events.ts'
import type { Ports } from '../ports.ts'
import { replayDelivery } from './deliveries.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

export type ReplayInput = {
  from: string
  /** Undefined, or a time in the future: up to now. */
  to: string | undefined
  /** Undefined selects all that the endpoint wants. */
  events: readonly WebhookEventName[] | undefined
  /** Undefined when there is only one. */
  endpointId: string | undefined
  only: ReplayOnly
}

/**
 * Requests that the deliveries of a range are made again.
 * @param replayId names the request, so that a repetition starts nothing more
 * @throws Refusal `webhook_replay_in_the_future`, `webhook_endpoint_unnamed`, `webhook_endpoint_not_found`
 */
export async function requestReplay(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  input: ReplayInput,
  replayId: string,
  origin: Origin,
): Promise<KnownReplay> {
  const at = momentOf(ports)
  if (input.from > at) throw new Refusal('webhook_replay_in_the_future')
  const endpoint = await endpointFor(ports, tenantId, input.endpointId)
  const wanted = input.events ?? endpoint.events
  const range = {
    tenantId,
    endpointId: endpoint.endpointId,
    from: input.from,
    to: input.to === undefined || input.to > at ? at : input.to,
    events: WebhookEventName.options.filter((name) => wanted.includes(name)),
    only: input.only,
  }
  const sent = range.events.filter((name) => endpoint.events.includes(name))
  const total = await countReplayable(ports.db, { ...range, events: sent })
  return change(ports, replayId, { type: 'RequestReplay', replayId, ...range, total, at }, origin)
}

async function endpointFor({ db }: Ports<'db'>, tenantId: string, endpointId: string | undefined) {
  const endpoints = await listEndpoints(db, tenantId)
  if (endpointId === undefined) {
    const [only, ...others] = endpoints
    if (!only || others.length > 0) throw new Refusal('webhook_endpoint_unnamed')
    return only
  }
  const endpoint = endpoints.find((one) => one.endpointId === endpointId)
  if (!endpoint) throw new Refusal('webhook_endpoint_not_found')
  return endpoint
}

/**
 * Pauses, resumes or cancels a replay.
 * @throws Refusal `webhook_replay_not_found`, `webhook_replay_ended`
 */
export async function changeReplay(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  replayId: string,
  what: 'pause' | 'resume' | 'cancel',
  origin: Origin,
): Promise<KnownReplay> {
  if (!(await findReplay(ports.db, tenantId, replayId))) throw new Refusal('webhook_replay_not_found')
  const at = momentOf(ports)
  switch (what) {
    case 'pause':
      return change(ports, replayId, { type: 'PauseReplay', at }, origin)
    case 'resume':
      return change(ports, replayId, { type: 'ResumeReplay', at }, origin)
    case 'cancel':
      return change(ports, replayId, { type: 'CancelReplay', reason: 'requested', at }, origin)
  }
}

/**
 * A replay leaves the endpoint alone while this many of its deliveries are pending, replayed or not. It is half of what
 * a process delivers to one endpoint at once, so that live deliveries never wait for a slot.
 */
const maxPending = 16

/**
 * Takes the next step of a replay: as many deliveries as the endpoint has room for are made due again, then the step is
 * recorded. A step that is repeated after a crash, or taken by two processes, has the same result.
 */
export async function advanceReplay(
  ports: Ports<'db' | 'deriveId' | 'execute' | 'now'>,
  replay: KnownReplay,
  origin: Origin,
): Promise<void> {
  const { tenantId, endpointId, replayId, through: before } = replay
  const { endpoint } = await findWebhookEndpoint(ports.db, tenantId, endpointId)
  if (!endpoint) {
    const at = momentOf(ports)
    await change(ports, replayId, { type: 'CancelReplay', reason: 'endpoint_removed', at }, origin)
    return
  }
  const most = maxPending - (await countPendingOf(ports.db, replay, maxPending))
  if (most <= 0) return
  // After a log was restored, the place may be gone: the replay begins again, and repeats no delivery.
  const after = before === null ? undefined : await findPublicEvent(ports.db, tenantId, before)
  const range = { ...replay, events: replay.events.filter((name) => endpoint.events.includes(name)) }
  const found = await listReplayable(ports.db, range, replayId, { after, most })
  for (const { licenseId, licenseRevision, event } of found) {
    const delivery = { tenantId, endpointId, licenseId, licenseRevision, event }
    await replayDelivery(ports, delivery, replayId, origin)
  }
  const last = found.at(-1)
  const through = last ? { licenseId: last.licenseId, revision: last.licenseRevision, at: last.at } : null
  const at = momentOf(ports)
  const step = { after: before, through, count: found.length, isLast: found.length < most, at }
  await change(ports, replayId, { type: 'AdvanceReplay', ...step }, origin)
}

async function change(
  ports: Ports<'execute' | 'now'>,
  replayId: string,
  command: ReplayCommand,
  origin: Origin,
): Promise<KnownReplay> {
  const { state } = await ports.execute(replays, replayId, command, causeOf(origin, command.at), {
    run: origin.run,
  })
  if (state.status === 'absent') throw new Refusal('webhook_replay_not_found')
  return state
}
