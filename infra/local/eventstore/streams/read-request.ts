import streams from '@eventstore/db-client/generated/streams_pb.js'
import { invalidArgument } from '../wire/errors.ts'
import { parseStreamName, parseUint64 } from '../wire/fields.ts'
import { type EventFilter, parseFilter } from './filter.ts'

/** A read or subscription, of one stream or of all. */
export type ReadRequest = {
  target: ReadTarget
  /** The maximum number of events; `subscription` has no end. */
  count: number | 'subscription'
  backwards: boolean
  filter: EventFilter | undefined
  resolveLinks: boolean
  structuredIds: boolean
}

export type ReadTarget = { kind: 'stream'; name: string; from: ReadStart } | { kind: 'all'; from: ReadStart }

/** A revision for a stream, a position for all. */
export type ReadStart = 'start' | 'end' | number

export function parseReadRequest(request: streams.ReadReq): ReadRequest {
  const options = request.getOptions()
  if (!options) throw invalidArgument('The options of the read are missing.')
  const filter = options.getFilter()
  return {
    target: parseTarget(options),
    count: options.hasSubscription() ? 'subscription' : parseUint64(options.getCount()),
    backwards: options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS,
    filter: filter && parseFilter(filter),
    resolveLinks: options.getResolveLinks(),
    structuredIds: options.getUuidOption()?.hasStructured() ?? false,
  }
}

function parseTarget(options: streams.ReadReq.Options): ReadTarget {
  const all = options.getAll()
  if (all) {
    const position = all.getPosition()?.getCommitPosition()
    return { kind: 'all', from: parseStart(all, position) }
  }
  const stream = options.getStream()
  if (!stream) throw invalidArgument('A read needs a stream, or all of them.')
  const revision = stream.hasRevision() ? stream.getRevision() : undefined
  return {
    kind: 'stream',
    name: parseStreamName(stream.getStreamIdentifier()),
    from: parseStart(stream, revision),
  }
}

function parseStart(options: { hasEnd(): boolean }, exact: string | undefined): ReadStart {
  if (exact !== undefined) return parseUint64(exact)
  return options.hasEnd() ? 'end' : 'start'
}
