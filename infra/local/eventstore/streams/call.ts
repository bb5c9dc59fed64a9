import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import type { ServerWritableStream } from '@grpc/grpc-js'

/** A read or a subscription; the protocol has one call for both. */
export type ReadCall = ServerWritableStream<ReadReq, Uint8Array>

type ReplyingCall = Pick<
  ServerWritableStream<unknown, unknown>,
  'cancelled' | 'destroyed' | 'once' | 'removeListener'
>

/** Whether the client has disconnected, so that nothing more needs to be read. */
export function isOver(call: ReplyingCall): boolean {
  return call.cancelled || call.destroyed
}

/** Resolves when the client can receive more, or has disconnected. */
export function drained(call: ReplyingCall): Promise<void> {
  if (isOver(call)) return Promise.resolve()
  return new Promise((resolve) => {
    const events = ['drain', 'cancelled', 'close']
    const settle = (): void => {
      for (const event of events) call.removeListener(event, settle)
      resolve()
    }
    for (const event of events) call.once(event, settle)
  })
}
