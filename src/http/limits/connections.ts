import type { Server } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyHttpOptions, FastifyInstance, onRequestHookHandler } from 'fastify'
import type { ConnectionBounds } from '../../config/shown.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may take any time, as long as bytes keep arriving. */
    slowBody?: boolean
  }
}

/** How often Node checks for late requests; its default is 30 seconds. */
const maxBetweenChecksMs = 1000

/** Sockets with a slow body, to which the time limit of the whole request does not apply. */
const slow = new WeakSet<object>()

/** @returns server options that close stalled connections and so free their memory */
export function serverOptions(bounds: ConnectionBounds): FastifyHttpOptions<Server> {
  const { headersMs, requestMs, idleMs } = bounds
  return {
    http: {
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.min(maxBetweenChecksMs, headersMs),
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

/** Limits the number of connections and the pauses within slow bodies. Register routes after this. */
export function boundConnections(app: FastifyInstance, { stallMs, idleMs, most }: ConnectionBounds): void {
  app.server.maxConnections = most
  const allowSlowBody: onRequestHookHandler = ({ raw }, reply, done) => {
    // An injected request has no socket.
    if (raw.socket instanceof Socket) {
      const { socket } = raw
      slow.add(socket)
      raw.setTimeout(stallMs, () => {
        if (!raw.complete) end(socket, late)
      })
      // Processing a complete body may take longer without traffic, as an import of many licenses does.
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

/** Answers on a raw socket when there is no request to answer, and closes the connection. */
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
