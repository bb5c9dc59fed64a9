import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { disableTestMode, enableTestMode, switchTestModeOn } from '../../commands/checkout/test-mode.ts'
import { Refusal } from '../../domain/refusal.ts'
import { type FilledForm, newForm, readForm, withProblem } from '../forms/filled-form.ts'
import { formOf } from '../forms/forms.ts'
import { optionalLine } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { aboveIn, type ProductRequest, productOf } from './product-of-page.ts'
import { testModeView } from './test-mode-view.ts'

const manage = pageRoute({ page: 'manage_products' })

const KeysForm = z.object({ publishableKey: optionalLine(255), secretKey: optionalLine(255) })
const SwitchForm = z.object({ mode: z.enum(['on', 'off']) })

/** Where a product is put into test mode, and where the keys for the card provider's test checkout are set. */
export function testModePages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: ProductRequest, reply: FastifyReply, form: FilledForm) => {
    const product = await productOf(ports, request)
    return show(reply, {
      title: 'Test mode',
      nav: 'products',
      trail: aboveIn(product),
      content: ({ token }) => testModeView(token, product, form),
      form,
    })
  }

  app.get('/products/:id/test-mode', manage, (request: ProductRequest, reply) =>
    page(request, reply, newForm()),
  )

  app.post('/products/:id/test-mode', manage, async (request: ProductRequest, reply) => {
    const product = await productOf(ports, request)
    const { mode } = formOf(SwitchForm, request)
    if (mode === 'on') await switchTestModeOn(ports, product, originOfMember(request))
    else await disableTestMode(ports, product, originOfMember(request))
    return redirectWith(
      reply,
      `/dashboard/products/${request.params.id}`,
      mode === 'on' ? 'Test mode is on.' : 'Test mode is off.',
    )
  })

  app.post('/products/:id/test-keys', manage, async (request: ProductRequest, reply) => {
    const product = await productOf(ports, request)
    const { filled, data } = readForm(KeysForm, request)
    // The secret key is not sent back to the browser.
    const form = { ...filled, typed: { ...filled.typed, secretKey: [''] } }
    if (!data) return page(request, reply, form)
    const { publishableKey = '', secretKey = '' } = data
    try {
      const keys = { publishableKey, secretKey }
      await enableTestMode(ports, product, keys, request.id, originOfMember(request))
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'test_keys_wanted') throw error
      const problem =
        'Enter a publishable key that begins with pk_test_ and a secret key that begins with sk_test_ or rk_test_.'
      return page(request, reply, withProblem(form, 'form', problem))
    }
    return redirectWith(
      reply,
      `/dashboard/products/${request.params.id}`,
      'Test mode is on, with these keys.',
    )
  })
}
