import type { Server } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyHttpOptions, FastifyInstance, onRequestHookHandler } from 'fastify'
import type { ConnectionBounds } from '../config/connections.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may take as long as it needs, while bytes of it arrive. */
    slowBody?: boolean
  }
}

/** Node looks this often for requests that are late; its own default is 30 seconds. */
const mostBetweenChecksMs = 1000

/** Sockets on which a slow body arrives: the time of the whole request does not end these. */
const slow = new WeakSet<object>()

/** @returns what the HTTP server is made with, so that a connection that stalls is ended and its memory freed */
export function serverOptions(bounds: ConnectionBounds): FastifyHttpOptions<Server> {
  const { headersMs, requestMs, idleMs } = bounds
  return {
    http: {
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.min(mostBetweenChecksMs, headersMs),
    },
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionTimeout: idleMs,
    clientErrorHandler: (error, socket) => {
      const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      if (isLate && slow.has(socket)) return
      end(socket, isLate ? late : error.code === 'HPE_HEADER_OVERFLOW' ? tooLong : unreadable)
    },
  }
}

/** Bounds the number of connections, and the pauses within slow bodies. Routes are to be registered after this. */
export function boundConnections(app: FastifyInstance, { stallMs, idleMs, most }: ConnectionBounds): void {
  app.server.maxConnections = most
  const allowSlowBody: onRequestHookHandler = ({ raw }, reply, done) => {
    // A request that is injected comes over no socket.
    if (raw.socket instanceof Socket) {
      const { socket } = raw
      slow.add(socket)
      raw.setTimeout(stallMs, () => {
        if (!raw.complete) end(socket, late)
      })
      // What is done with a body that is there may take longer without a byte, as an import of many licenses does.
      reply.raw.once('timeout', () => {
        if (raw.complete) socket.setTimeout(idleMs)
      })
      raw.once('close', () => slow.delete(socket))
    }
    done()
  }
  app.addHook('onRoute', (route) => {
    if (route.config?.slowBody) route.onRequest = [allowSlowBody, ...[route.onRequest ?? []].flat()]
  })
}

const late = ['408 Request Timeout', 'the request did not arrive in time; retry it'] as const
const tooLong = ['431 Request Header Fields Too Large', 'the headers are too long; send fewer'] as const
const unreadable = ['400 Bad Request', 'the request is not valid HTTP/1.1'] as const

/** Answers where no request is known that could be answered, and closes the connection. */
function end(socket: Socket, [status, message]: readonly [status: string, message: string]): void {
  if (socket.writable) {
    const body = JSON.stringify({ error: message })
    socket.write(
      `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\n` +
        'cache-control: no-store\r\nx-content-type-options: nosniff\r\n' +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  }
  socket.destroy()
}
