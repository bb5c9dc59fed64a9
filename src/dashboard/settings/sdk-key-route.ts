import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readMaskedKeys } from '../../../projections/client-keys.ts'
import { recordAudit } from '../../commands/audit.ts'
import { isId, newId } from '../../credentials/id.ts'
import { Refusal } from '../../domain/refusal.ts'
import { revealSdkKey, rotateSdkKey } from '../../gate/operations/sdk-key.ts'
import { formOf } from '../forms/forms.ts'
import { sentenceOf } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { sdkKeyView, shownSdkKeyView } from './sdk-key-view.ts'

const connect = pageRoute({ page: 'manage_connections' })
const connectForm = pageRoute({ page: 'manage_connections', proof: 'send' })

const path = '/settings/sdk-key'

const Form = z.object({
  /** Created with the form, so that sending it twice rotates the key once. */
  operation: z.string().refine((id) => isId('req', id)),
  action: z.enum(['reveal', 'rotate']),
})

/** Where the SDK key is shown and rotated, for members who have just proved who they are. */
export function sdkKeyPages(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get(path, connect, async (request, reply) => {
    const { sdkKey } = await readMaskedKeys(ports.db, principalOf(request).tenantId)
    const operation = newId('req')
    return show(reply, {
      title: 'SDK key',
      nav: 'settings',
      content: (view) => sdkKeyView(view, operation, sdkKey),
    })
  })

  app.post(path, connectForm, async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { operation: id, action } = formOf(Form, request)
    const origin = originOfMember(request)
    const input = { parameters: {}, query: {}, body: null }
    // Recorded first: nothing is revealed that the audit log does not hold.
    const target = { kind: 'sdk-key', id: null } as const
    if (action === 'reveal') await recordAudit(ports, tenantId, { action: 'revealed', target }, origin)
    try {
      const operation = action === 'reveal' ? revealSdkKey : rotateSdkKey
      const sdkKey = await operation.run(ports, tenantId, input, { id, origin })
      return show(reply, {
        title: 'SDK key',
        nav: 'settings',
        content: () => shownSdkKeyView(sdkKey, action === 'rotate'),
      })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return redirectWith(reply, `/dashboard${path}`, { kind: 'wrong', text: sentenceOf(error.code) })
    }
  })
}
