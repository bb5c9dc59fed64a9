import { isSoftDeleted } from '../engine/stream-metadata.ts'
import type { RecordedEvent } from '../storage/event.ts'
import type { EventLog } from '../storage/event-log.ts'
import type { ResolvedEvent } from '../wire/read-response.ts'

const linkType = '$>'

/** Returns an event or, if it is a link and links are to be resolved, the event that it points to. */
export function resolveEvent(log: EventLog, event: RecordedEvent, resolveLinks: boolean): ResolvedEvent {
  const { position } = event
  if (!resolveLinks || event.type !== linkType) return { event, position }
  return { event: linkedEvent(log, event.data), link: event, position }
}

/** A link's data is `revision@stream`. The target may have been deleted. */
function linkedEvent(log: EventLog, data: Uint8Array): RecordedEvent | undefined {
  const [, revision, stream] = /^(\d+)@(.+)$/s.exec(Buffer.from(data).toString()) ?? []
  if (revision === undefined || stream === undefined) return undefined
  return isSoftDeleted(log.stream(stream)) ? undefined : log.eventAt(stream, Number(revision))
}
