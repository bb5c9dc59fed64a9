import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether each answer from now on ends its connection. */
    endConnections: boolean
  }
}

/** After this a request that is still running is cut off. */
const timeoutMs = 10_000

/**
 * While the application closes, requests are finished and their connections ended as they fall idle: those of
 * clients that keep them open would otherwise be waited for.
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
    // An application that never listened has no server to close.
    if (!app.server.listening) {
      clearInterval(falling)
      clearTimeout(late)
    }
    done()
  })
}
