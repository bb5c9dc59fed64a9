import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether each response from now on closes its connection. */
    endConnections: boolean
  }
}

/** A request that still runs after this time is cut off. */
const timeoutMs = 10_000

/**
 * While the application closes, finishes the running requests and closes idle connections. Otherwise it would wait
 * for clients that keep their connections open.
 */
export function drainOnClose(app: FastifyInstance): void {
  app.decorate('endConnections', false)
  app.addHook('preClose', (done) => {
    const falling = setInterval(() => app.server.closeIdleConnections(), 50)
    const late = setTimeout(() => app.server.closeAllConnections(), timeoutMs)
    app.server.once('close', () => {
      clearInterval(falling)
      clearTimeout(late)
    })
    // An application that does not listen has no server to close.
    if (!app.server.listening) {
      clearInterval(falling)
      clearTimeout(late)
    }
    done()
  })
}
