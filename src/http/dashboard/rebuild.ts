import type { FastifyInstance } from 'fastify'
import { createRebuilds } from '../../commands/rebuilds.ts'
import type { Rooms } from './rooms.ts'
import { freshFormMs, freshMs, originOfMember, signedOf } from './signed.ts'
import { rebuildView } from './views/system.ts'

const hidden = { schema: { hide: true } } as const
const page = '/system/rebuild'

/** Where an owner has the read models folded again. How far that is shows on the page of the system. */
export function rebuildPages(app: FastifyInstance, { services, show }: Rooms): void {
  const rebuilds = createRebuilds(services, {
    onParked: (parked) => app.log.error(parked, 'projection.stream_parked'),
    onFailure: (err) => app.log.error({ err }, 'rebuild.failed'),
  })
  app.addHook('onClose', () => rebuilds.stop())

  app.get(page, { config: { page: 'manage_settings', freshMs }, ...hidden }, async (_request, reply) =>
    show(reply, {
      title: 'Rebuild the read models',
      nav: 'system',
      content: ({ token }) => rebuildView(token),
    }),
  )

  app.post(
    page,
    { config: { page: 'manage_settings', freshMs: freshFormMs }, ...hidden },
    async (request, reply) => {
      const started = await rebuilds.start(signedOf(request).tenantId, originOfMember(request))
      request.session.notice = started
        ? { kind: 'done', text: 'The rebuild has begun. This page shows how far it is.' }
        : {
            kind: 'wrong',
            text: 'A rebuild or a comparison with the log is running already. Wait until it is done.',
          }
      return reply.redirect('/dashboard/system', 303)
    },
  )
}
