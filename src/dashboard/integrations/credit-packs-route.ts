import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { mapCreditPack } from '../../commands/integrations/integrations.ts'
import { CreditPack } from '../../domain/integrations/credit-packs.ts'
import { SoldId } from '../../domain/integrations/mapping.ts'
import { Slug } from '../../domain/values.ts'
import { type FilledForm, readForm, withProblem } from '../forms/filled-form.ts'
import { refusedForm } from '../forms/refused.ts'
import { optionalWhole } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { type ProviderRequest, providerOf, providerPage } from './provider-route.ts'

const manage = pageRoute({ page: 'manage_connections' })

const PackForm = z.object({
  pack: z
    .string()
    .trim()
    .refine((text) => SoldId.safeParse(text).success, 'Enter one ID, without spaces.'),
  meter: z.string().regex(/^[^/]+\/[^/]+$/, 'Choose a meter.'),
  amount: z
    .string()
    .trim()
    .refine(
      (text) => CreditPack.shape.amount.safeParse(text).success,
      'Enter a number above 0, such as 500 or 2.5, with up to 9 digits before the point.',
    ),
  days: optionalWhole(1, 3650),
})

/** Lets one of a provider's ids add to a meter. */
export function creditPackForm(app: FastifyInstance, context: PageContext): void {
  const { ports } = context
  app.post('/integrations/:provider/credit-pack', manage, async (request: ProviderRequest, reply) => {
    const provider = providerOf(request)
    const { filled, data } = readForm(PackForm, request)
    const again = (form: FilledForm) => providerPage(context, request, reply, form)
    if (!data) return again(filled)
    const { pack: item, amount, days } = data
    const [productId = '', meter = ''] = data.meter.split('/')
    const known = Slug.safeParse(productId).data
    const { tenantId } = principalOf(request)
    const product = known === undefined ? undefined : await ports.findProduct(tenantId, known)
    const isMeter = product?.keyTypes.some(({ meters = [] }) => meters.some((one) => one.meter === meter))
    if (!product || !isMeter) return again(withProblem(filled, 'meter', 'Choose a meter.'))
    try {
      const pack = { meter, amount, days }
      await mapCreditPack(ports, product, provider, { item, pack }, originOfMember(request))
    } catch (error) {
      const taken = 'This ID stands for something else. Remove that first.'
      return again(refusedForm(error, filled, { mapping_taken: ['pack', taken] }))
    }
    return redirectWith(reply, `/dashboard/integrations/${provider}`, `${item} sells credits.`)
  })
}
