import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import type { handleServerStreamingCall } from '@grpc/grpc-js'
import type { EventStore } from '../engine/event-store.ts'
import { pageEvents } from '../storage/event-log.ts'
import { subscribe } from '../subscriptions/subscription.ts'
import { toRpcError } from '../wire/errors.ts'
import { encodeEvent, encodeStreamNotFound } from '../wire/read-response.ts'
import { drained, isOver, type ReadCall } from './call.ts'
import { resolveEvent } from './links.ts'
import { allPages, type Pages, streamPages } from './pages.ts'
import { parseReadRequest, type ReadRequest } from './read-request.ts'

export function readHandler(
  store: EventStore,
  shutdown: AbortSignal,
): handleServerStreamingCall<ReadReq, Uint8Array> {
  return (call) => {
    serve(store, call, shutdown).catch((error: unknown) => call.emit('error', toRpcError(error)))
  }
}

async function serve(store: EventStore, call: ReadCall, shutdown: AbortSignal): Promise<void> {
  const request = parseReadRequest(call.request)
  const { count } = request
  if (count === 'subscription') await subscribe(store, call, request, shutdown)
  else await read(store, call, request, count)
  call.end()
}

async function read(store: EventStore, call: ReadCall, request: ReadRequest, count: number): Promise<void> {
  const { target, backwards, filter } = request
  const paged = { target, backwards, pageEvents: filter ? pageEvents : count }
  const pages =
    target.kind === 'all' ? allPages(store.log, paged) : streamPages(store.log, target.name, paged)
  if (pages) await sendPages(store, call, request, { pages, count })
  else if (target.kind === 'stream') call.write(encodeStreamNotFound(target.name))
}

async function sendPages(
  { log }: EventStore,
  call: ReadCall,
  { filter, resolveLinks, structuredIds }: ReadRequest,
  { pages, count }: { pages: Pages; count: number },
): Promise<void> {
  let remaining = count
  for (const page of pages) {
    for (const event of page) {
      if (remaining === 0) return
      if (filter && !filter.matches(event)) continue
      const hasRoom = call.write(encodeEvent(resolveEvent(log, event, resolveLinks), structuredIds))
      remaining -= 1
      if (!hasRoom) await drained(call)
      if (isOver(call)) return
    }
    // A filter may skip whole pages without waiting for the socket; other work must be able to run.
    if (page.length === pageEvents) await nextTurn()
  }
}
