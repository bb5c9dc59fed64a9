import type streams from '@eventstore/db-client/generated/streams_pb.js'
import type { RecordedEvent } from '../storage/event.ts'
import { handlerFailed, invalidArgument } from '../wire/errors.ts'

/** The default number of events that a filter checks before it reports its position. */
const defaultWindow = 32

export type EventFilter = {
  matches(event: RecordedEvent): boolean
  /** A subscription sends a checkpoint each time it has checked this many events. */
  checkpointInterval: number
}

export function parseFilter(options: streams.ReadReq.Options.FilterOptions): EventFilter {
  const window = options.hasMax() ? options.getMax() : defaultWindow
  const checkpointInterval = window * options.getCheckpointintervalmultiplier()
  const byStream = options.getStreamIdentifier()
  const byType = options.getEventType()
  if (byStream) {
    const accepts = parseExpression(byStream)
    return { matches: (event) => accepts(event.stream), checkpointInterval }
  }
  if (byType) {
    const accepts = parseExpression(byType)
    return { matches: (event) => accepts(event.type), checkpointInterval }
  }
  throw invalidArgument('A filter needs a stream name or an event type.')
}

function parseExpression(
  expression: streams.ReadReq.Options.FilterOptions.Expression,
): (value: string) => boolean {
  const source = expression.getRegex()
  const prefixes = expression.getPrefixList()
  if (source === '') return (value) => prefixes.some((prefix) => value.startsWith(prefix))
  try {
    const regex = new RegExp(source)
    return (value) => regex.test(value)
  } catch {
    throw handlerFailed()
  }
}
