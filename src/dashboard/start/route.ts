import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { newestTestPurchase } from '../../../projections/test-purchases.ts'
import { chooseSellingElsewhere, dismissOnboarding } from '../../commands/tenants.ts'
import { startTestPurchase } from '../../commands/test-purchases.ts'
import { newId } from '../../credentials/id.ts'
import { Refusal } from '../../domain/refusal.ts'
import { notFound } from '../../http/problem.ts'
import { formOf } from '../forms/forms.ts'
import { runOnce, SentBefore, sentBefore } from '../forms/once.ts'
import { sentenceOf } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { readStart } from './facts.ts'
import { stagesView, startView } from './view.ts'

const path = '/dashboard/start'

const TestForm = z.object({ product: z.string().max(200) })

/** The steps to the first validated license, and the test purchase that is one of them. */
export function startPages(app: FastifyInstance, { ports, show, showPart }: PageContext): void {
  app.get('/start', pageRoute({ page: 'products:read' }), async (request, reply) => {
    const facts = await readStart(ports, principalOf(request).tenantId)
    return show(reply, {
      title: 'Get started',
      nav: 'start',
      content: (view) => startView(view, facts, newId('req')),
    })
  })

  app.get(
    '/start/test-purchase',
    pageRoute({ page: 'products:read', background: true }),
    async (request, reply) => {
      const purchase = await newestTestPurchase(ports.db, principalOf(request).tenantId)
      if (!purchase) throw notFound('test purchase')
      return showPart(reply, () => stagesView(purchase))
    },
  )

  app.post('/start/sell-elsewhere', pageRoute({ page: 'manage_connections' }), async (request, reply) => {
    await chooseSellingElsewhere(ports, principalOf(request).tenantId, originOfMember(request))
    return reply.redirect(path, 303)
  })

  app.post('/start/dismiss', pageRoute({ page: 'manage_settings' }), async (request, reply) => {
    await dismissOnboarding(ports, principalOf(request).tenantId, originOfMember(request))
    return redirectWith(reply, '/dashboard', 'Setup checklist hidden. You find it under Help, Get started.')
  })

  /** A form that is sent twice starts one test purchase. A worker runs its stages. */
  app.post('/start/test-purchase', pageRoute({ page: 'change_licenses' }), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { product: productId } = formOf(TestForm, request)
    const product = await ports.findProduct(tenantId, productId)
    if (!product) throw notFound('product')
    try {
      await runOnce(ports, request, async (own, origin) => {
        await startTestPurchase(own, product, {}, origin)
        return null
      })
    } catch (error) {
      return redirectWith(reply, path, { kind: 'wrong', text: wordsOf(error) })
    }
    return redirectWith(reply, path, 'Test purchase started. Its stages follow within seconds.')
  })
}

/** @throws what is neither a refusal nor a form that was changed after it was sent */
function wordsOf(error: unknown): string {
  if (error instanceof SentBefore) return sentBefore
  if (error instanceof Refusal) return sentenceOf(error.code)
  throw error
}
