import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { listSigningKeys } from '../../../projections/signing.ts'
import { momentOf } from '../../commands/origin.ts'
import { prepareSigningKey, rotateSigningKey } from '../../commands/signing-keys.ts'
import { formOf } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { rotateSigningKeyView } from './signing-keys-view.ts'

const page = '/settings/signing-keys'

/** The form names the newest key, so that sending it twice changes something once. */
const RotateForm = z.object({
  replaces: z.string().max(100),
  what: z.enum(['rotate', 'prepare']).default('rotate'),
})

const done = {
  prepare: 'Next signing key published. It signs nothing until you rotate.',
  rotate: 'Signing key rotated.',
}

export function signingKeyPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const newest = async (tenantId: string) =>
    (await listSigningKeys(ports.db, tenantId, momentOf(ports))).at(-1)

  app.get(page, pageRoute({ page: 'manage_settings' }), async (request, reply) => {
    const key = await newest(principalOf(request).tenantId)
    return show(reply, {
      title: 'Signing keys',
      nav: 'settings',
      content: ({ token }) => rotateSigningKeyView(token, key),
    })
  })

  app.post(page, pageRoute({ page: 'manage_settings', proof: 'send' }), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { replaces, what } = formOf(RotateForm, request)
    const present = (await newest(tenantId))?.kid ?? 'none'
    if (replaces !== present) {
      const text = 'Another signing key was published in the meantime.'
      return redirectWith(reply, '/dashboard/settings', { kind: 'wrong', text })
    }
    const run = what === 'prepare' ? prepareSigningKey : rotateSigningKey
    await run(ports, tenantId, originOfMember(request))
    return redirectWith(reply, '/dashboard/settings', done[what])
  })
}
