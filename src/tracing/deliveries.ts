import type { LogEntry } from '../domain/recorded.ts'
import type { DeliveryChannel } from '../webhooks/channel.ts'
import type { Handler } from '../webhooks/feed.ts'
import type { Tracing } from './tracing.ts'

/** Older entries are dropped, and looked up when needed. */
const maxKept = 5000

/** Adds each attempt of a delivery to the trace of the event that it delivers. */
export type DeliveryTracing = {
  /** Receives every log entry as it arrives. */
  onEntry(entry: LogEntry): void
  handler(make: Handler): Handler
  channel<C extends DeliveryChannel>(name: string, channel: C): C
}

/** @param find looks up the correlation id of a delivery's event in the read models */
export function traceDeliveries(
  tracing: Tracing,
  find: (deliveryId: string) => Promise<string | undefined>,
): DeliveryTracing {
  const recent = new Map<string, string>()
  return {
    onEntry(entry) {
      if (!entry.readable || entry.category !== 'delivery' || entry.event.type !== 'DeliveryScheduled') return
      recent.set(entry.event.data.deliveryId, entry.metadata.correlationId)
      const [oldest] = recent.keys()
      if (oldest !== undefined && recent.size > maxKept) recent.delete(oldest)
    },
    handler: (make) => async (job) => {
      const { deliveryId, attempt, channel } = job
      const correlationId = recent.get(deliveryId) ?? (await find(deliveryId)) ?? deliveryId
      recent.delete(deliveryId)
      await tracing.within(
        {
          name: `deliver ${channel}`,
          kind: 'consumer',
          correlationId,
          // Events of an attempt have the delivery's id as correlation id.
          alsoCovers: deliveryId,
          attributes: { 'keyledger.delivery_id': deliveryId, 'keyledger.attempt': attempt },
        },
        () => make(job),
      )
    },
    channel: (name, channel) => ({
      ...channel,
      deliver: (...attempt: Parameters<DeliveryChannel['deliver']>) =>
        tracing.within({ name: `send ${name}`, kind: 'client' }, async (annotate) => {
          const result = await channel.deliver(...attempt)
          annotate({
            'keyledger.outcome': result.outcome,
            ...('error' in result && { 'error.type': result.error }),
          })
          return result
        }),
    }),
  }
}
