import { once } from 'node:events'
import {
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'

/** How a call ends instead of by the server. */
export type Ending =
  /** With a gRPC status and trailers. */
  | { status: number; message: string; trailers?: Record<string, string> }
  /** The stream is reset. */
  | 'reset'

export type Fault = {
  /** The last segment of the method's path, such as `BatchAppend`; undefined: every method. */
  method?: string
  /**
   * `before`: nothing reaches the server; `midway`: after the first bytes of its response; `answered`: the server
   * has done everything, and its response is lost.
   */
  moment: 'before' | 'midway' | 'answered'
  ending: Ending
  /** The number of calls; undefined: all. */
  times?: number
}

/** A proxy between a gRPC client and a server that ends calls. */
export type GrpcProxy = {
  port: number
  fault: Fault | undefined
  /** The number of calls it has ended so far. */
  ended: number
  close(): Promise<void>
}

/** @param target a port of this machine */
export async function startGrpcProxy(target: number): Promise<GrpcProxy> {
  const upstream = connect(`http://127.0.0.1:${target}`)
  upstream.on('error', () => undefined)
  const sessions = new Set<{ destroy(): void }>()
  const server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => undefined).on('close', () => sessions.delete(session))
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    forward(stream, headers)
  })

  /** The fault for a request on this path, if any. */
  function take(path: string): Fault | undefined {
    const { fault } = proxy
    if (!fault || (fault.method !== undefined && !path.endsWith(`/${fault.method}`))) return undefined
    proxy.ended++
    if (fault.times !== undefined && --fault.times === 0) proxy.fault = undefined
    return fault
  }

  function forward(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const call = upstream.request(asSent(withoutHost(headers)))
    let fault: Fault | undefined
    let trailers: OutgoingHttpHeaders = {}
    let isOver = false
    const endWith = (ending: Ending) => {
      if (isOver || stream.destroyed) return
      isOver = true
      call.close()
      if (ending === 'reset') stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      else if (stream.headersSent) {
        trailers = trailersOf(ending)
        stream.end()
      } else {
        const answer = { ':status': 200, 'content-type': 'application/grpc', ...trailersOf(ending) }
        stream.respond(answer, { endStream: true })
      }
    }
    call.on('error', () => endWith('reset'))
    stream.once('close', () => {
      isOver = true
      call.close()
    })
    // One call carries many requests, and each may get a fault.
    stream.on('data', (bytes: Buffer) => {
      if (isOver) return
      fault ??= take(headers[':path'] ?? '')
      if (fault?.moment === 'before') endWith(fault.ending)
      else call.write(bytes)
    })
    stream.once('end', () => call.end())
    call.once('response', (answer) => {
      if (fault?.moment !== 'answered' && !isOver && !stream.destroyed)
        stream.respond(asSent(answer), { waitForTrailers: true })
    })
    call.once('trailers', (found: OutgoingHttpHeaders) => {
      if (!isOver) trailers = found
    })
    stream.once('wantTrailers', () => stream.sendTrailers(asSent(trailers)))
    call.on('data', (bytes: Buffer) => {
      if (isOver || stream.destroyed) return
      if (fault?.moment !== 'answered') stream.write(bytes)
      if (fault) endWith(fault.ending)
    })
    call.once('end', () => {
      if (fault) endWith(fault.ending)
      if (!isOver && !stream.destroyed) stream.end()
      isOver = true
    })
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  const proxy: GrpcProxy = {
    port: (server.address() as AddressInfo).port,
    fault: undefined,
    ended: 0,
    async close() {
      upstream.destroy()
      for (const session of sessions) session.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

const trailersOf = ({ status, message, trailers }: Exclude<Ending, 'reset'>) => ({
  'grpc-status': String(status),
  'grpc-message': message,
  ...trailers,
})

/** Received headers in a form that can be sent: without the symbols that Node adds. */
const asSent = (headers: object): OutgoingHttpHeaders =>
  Object.fromEntries<OutgoingHttpHeaders[string]>(Object.entries(headers))

const withoutHost = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== ':authority' && name !== 'host'))
